/**
 * A hook of mmdebstrap: `node debian-root.js ROOT` makes a root of extracted packages one that runs. No program of the packages
 * runs here: so the root of another architecture needs no emulation.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLACES } from './packing.js'

/** The tools that a person needs in a container that has a fault, and `env`, which starts `waypost`. All are busybox. */
const TOOLS =
  'cat cp date df du echo env false find free grep head hostname id kill less ls mkdir mv nc nslookup ping ps pwd rm sed sh sleep sort ' +
  'stat tail test top touch true uname vi wc wget'

/** Files of the machine that builds, what nobody reads in a container, and what the package manager would need. */
const UNWANTED = [
  ['etc/apt', 'etc/hostname', 'etc/resolv.conf', 'etc/update-motd.d', 'usr/share/bug', 'usr/share/info'],
  ['usr/share/lintian', 'usr/share/locale', 'usr/share/man', 'var/cache', 'var/log', 'var/lib/apt'],
].flat()

const root = process.argv[2]
process.umask(0o022)
write('var/lib/dpkg/status', statusOfPackages())
for (const path of UNWANTED) rmSync(join(root, path), { recursive: true, force: true })
// mmdebstrap leaves files of its own there.
for (const name of readdirSync(join(root, 'tmp'))) rmSync(join(root, 'tmp', name))
removeDocuments()
for (const path of ['var/log', 'var/cache']) mkdirSync(join(root, path))
for (const tool of TOOLS.split(' ')) symlinkSync('busybox', join(root, 'usr/bin', tool))
const { user, uid, dataDir } = PLACES
write('etc/passwd', `root:x:0:0::/root:/bin/sh\n${user}:x:${uid}:${uid}::${dataDir}:/bin/sh\n`)
write('etc/group', `root:x:0:\n${user}:x:${uid}:\n`)
write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')

/** The records that dpkg would write: scanners find the packages there. */
function statusOfPackages() {
  const archives = join(root, 'var/cache/apt/archives')
  const packages = readdirSync(archives).filter((name) => name.endsWith('.deb'))
  const fieldsOf = (name) => execFileSync('dpkg-deb', ['--field', join(archives, name)], { encoding: 'utf8' })
  return packages
    .sort()
    .map((name) => `Status: install ok installed\n${fieldsOf(name)}\n`)
    .join('')
}

/** Licences must be beside the programs; other documents need not. */
function removeDocuments() {
  const documents = join(root, 'usr/share/doc')
  for (const name of readdirSync(documents, { recursive: true, withFileTypes: true }))
    if (!name.isDirectory() && name.name !== 'copyright') rmSync(join(name.parentPath, name.name))
}

function write(path, text) {
  writeFileSync(join(root, path), text)
}
