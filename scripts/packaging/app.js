/**
 * The common content of every way to install: the package of this project with its production dependencies, for one architecture.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, ensureInstalled, npmCommand, root } from '../prepare.js'
import { billOf } from './bill.js'
import { execute } from './packing.js'

const [npm, ...first] = npmCommand()

/** Lays out `/app` in a new directory, with a bill of materials; `parts` are the components of it that come beside `/app`. */
export async function layOutApp(directory, { arch, parts = [] }) {
  await ensureInstalled()
  if (!(await build())) throw new Error('The console could not be built')
  mkdirSync(directory, { recursive: true })
  unpackProject(directory)
  installDependencies(directory, arch)
  const bill = billOf({ arch, parts }, directory)
  writeFileSync(join(directory, 'sbom.json'), `${JSON.stringify(bill, null, 2)}\n`)
}

function unpackProject(directory) {
  const pack = [...first, 'pack', '--silent', '--pack-destination', directory]
  const packed = execute(npm, pack, { cwd: root }).trim()
  execute('tar', ['-xzf', packed, '--strip-components=1'], { cwd: directory })
  rmSync(join(directory, packed))
}

/** npm also installs the native part of libsql for musl: no image or package here is made for that. */
function installDependencies(directory, arch) {
  for (const name of ['package-lock.json', '.npmrc']) copyFileSync(join(root, name), join(directory, name))
  const platform = ['--os=linux', `--cpu=${arch}`, '--libc=glibc']
  execute(npm, [...first, 'ci', '--omit=dev', '--ignore-scripts', ...platform], { cwd: directory })
  const natives = join(directory, 'node_modules', '@libsql')
  for (const name of readdirSync(natives))
    if (name !== `linux-${arch}-gnu`) rmSync(join(natives, name), { recursive: true })
  if (readdirSync(natives).length === 0) throw new Error(`npm installed no libsql for linux on ${arch}`)
  for (const path of ['package-lock.json', '.npmrc', 'node_modules/.package-lock.json', 'node_modules/.bin'])
    rmSync(join(directory, path), { recursive: true, force: true })
}
