/** `npm run bench`: compiles the bench and the server if they changed, then measures. */
import { fileURLToPath, pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { build, ensureInstalled, root, run } from '../scripts/prepare.js'

/** A compiled module of the bench. The server is built too, unless another one is measured. */
export async function compiled(name, { withServer = true } = {}) {
  await ensureInstalled()
  if (withServer) await build()
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { code, output } = await run(process.execPath, [tsc, '-p', 'bench/tsconfig.build.json'], {
    capture: true,
  })
  if (code !== 0) throw new Error(`${output}\nThe bench does not compile.`)
  return import(pathToFileURL(join(root, '.cache', 'bench', 'bench', `${name}.js`)).href)
}

/** Runs a function of a module with the arguments of this process, and exits with its code. */
export async function runAsCommand(name, part, options) {
  const module = await compiled(name, options)
  process.exit(
    await module[part](process.argv.slice(2)).catch((error) => {
      console.error(error.message)
      return 2
    }),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await runAsCommand('main', 'main', { withServer: !process.argv.includes('--main') })
