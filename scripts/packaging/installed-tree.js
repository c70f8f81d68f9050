/** The directories of an installed Waypost, with the Node.js that it runs on: the same below /opt/waypost and below /usr. */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../prepare.js'
import { layOutApp } from './app.js'
import { nodeComponent } from './bill.js'
import { NODE_VERSION, nodeRelease } from './node-release.js'
import { execute } from './packing.js'

/** Where each shell looks for its completions. */
const COMPLETIONS = {
  bash: 'share/bash-completion/completions/waypost',
  zsh: 'share/zsh/site-functions/_waypost',
  fish: 'share/fish/vendor_completions.d/waypost.fish',
}
/** Documents of the package: the program does not read them. */
const DOCUMENTS = ['LICENSE', 'README.md', 'CHANGELOG.md', 'docs', 'deploy']

/** Lays out `bin`, `lib` and `share` in a directory. */
export async function layOutInstalled(directory, arch) {
  const app = join(directory, 'lib/waypost/app')
  await layOutApp(app, { arch, parts: [nodeComponent(NODE_VERSION)] })
  const release = await nodeRelease(arch)
  cpSync(join(release, 'bin/node'), join(directory, 'lib/waypost/node'))
  put(directory, 'bin/waypost', { text: deployed('waypost.sh'), mode: 0o755 })
  const documents = join(directory, 'share/doc/waypost')
  mkdirSync(documents, { recursive: true })
  for (const name of DOCUMENTS) renameSync(join(app, name), join(documents, name))
  cpSync(join(release, 'LICENSE'), join(documents, 'LICENSE.node'))
  const manual = join(directory, 'share/man/man1/waypost.1')
  mkdirSync(dirname(manual), { recursive: true })
  renameSync(join(app, 'dist/waypost.1'), manual)
  renameSync(join(app, 'dist/openapi.json'), join(documents, 'openapi.json'))
  for (const [shell, path] of Object.entries(COMPLETIONS))
    put(directory, path, {
      text: execute(process.execPath, [join(root, 'dist/main.js'), 'completion', shell]),
    })
}

/** Adds the unit of systemd for a program below `prefix`. */
export function putUnit(directory, path, prefix) {
  put(directory, path, { text: deployed('systemd/waypost.service').replaceAll('@PREFIX@', prefix) })
}

/** Writes a file below a directory. */
export function put(directory, path, { text, mode = 0o644 }) {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
}

/** The text of a file in deploy. */
export function deployed(name) {
  return readFileSync(join(root, 'deploy', name), 'utf8')
}
