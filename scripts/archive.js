/**
 * `npm run archive [-- --arch x64|arm64 --out DIR]`: packs Waypost and Node.js for Linux into one tar.xz, and prints its path. It
 * needs no other package than a C library (glibc 2.28 or newer) and libstdc++. `--fast` compresses little, for tests.
 *
 * Inside: bin/waypost, the manual, completions for bash, zsh and fish, documents with licences, sbom.json, a unit of systemd for
 * /opt/waypost and its user, and an example of /etc/waypost/waypost.conf.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { deployed, layOutInstalled, put, putUnit } from './packaging/installed-tree.js'
import {
  about,
  execute,
  inWorkDirectory,
  needPrograms,
  packTar,
  readFlags,
  runScript,
} from './packaging/packing.js'

await runScript(async () => {
  const { arch, out, fast } = readFlags()
  needPrograms({ tar: 'tar', xz: 'xz-utils' })
  mkdirSync(out, { recursive: true })
  const name = `waypost-${about.version}-linux-${arch}`
  const file = join(out, `${name}.tar.xz`)
  await inWorkDirectory(async (directory) => {
    const tree = join(directory, name)
    await layOutInstalled(tree, arch)
    putUnit(tree, 'lib/systemd/system/waypost.service', '/opt/waypost')
    put(tree, 'lib/sysusers.d/waypost.conf', { text: deployed('systemd/sysusers.conf') })
    put(tree, 'etc/waypost/waypost.conf', { text: deployed('waypost.conf') })
    const tar = join(directory, `${name}.tar`)
    packTar(tar, directory, { entries: [name] })
    // Blocks of a fixed size: the bytes do not depend on the number of processors.
    execute('xz', [fast ? '-0' : '-6', '--threads=2', '--block-size=24MiB', tar])
    execute('mv', [`${tar}.xz`, file])
  })
  console.log(file)
})
