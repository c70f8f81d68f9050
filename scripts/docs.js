/**
 * `npm run docs`: writes the generated references of docs/ from the built code. With `--check` it writes nothing and fails
 * where one is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, ensureInstalled, root } from './prepare.js'

await ensureInstalled()
await build({ lenient: true })

/** Each generated file, and what makes its text. */
const documents = [
  ['docs/settings.md', async () => (await import('../dist/settings/reference.js')).settingsReference()],
  [
    'docs/errors.md',
    async () => (await import('../dist/protocols/http/errors-reference.js')).errorsReference(),
  ],
  ['docs/openapi.json', async () => (await import('../dist/api-document.js')).apiDocument()],
]

for (const [file, make] of documents) {
  const path = join(root, file)
  const text = await make()
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: run \`npm run docs\`.`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`${file} written`)
  }
}
