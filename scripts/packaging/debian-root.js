/**
 * A hook of mmdebstrap: `node debian-root.js ROOT` makes a root of extracted packages one that runs. No program of the packages
 * runs here: so the root of another architecture needs no emulation.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a person needs in a container that has a fault, and `env`, which starts `waypost`. All are busybox. */
const TOOLS =
  'cat cp date df du echo env false find free grep head hostname id kill less ls mkdir mv nc nslookup ping ps pwd rm sed sh sleep sort ' +
  'stat tail test top touch true uname vi wc wget'

/** Files of the machine that builds, what nobody reads in a container, and what the package manager would need. */
const UNWANTED = [
  ...['etc/apt', 'etc/hostname', 'etc/resolv.conf', 'etc/update-motd.d', 'usr/share/bug', 'usr/share/info'],
  ...['usr/share/lintian', 'usr/share/locale', 'usr/share/man', 'var/cache', 'var/log', 'var/lib/apt'],
]

const root = process.argv[2]
const archives = join(root, 'var/cache/apt/archives')
const packages = readdirSync(archives).filter((name) => name.endsWith('.deb'))
const fields = packages.sort().map((name) => execFileSync('dpkg-deb', ['--field', join(archives, name)], { encoding: 'utf8' }))
// Scanners find the packages here.
write('var/lib/dpkg/status', fields.map((text) => `Status: install ok installed\n${text}\n`).join(''))
for (const path of UNWANTED) rmSync(join(root, path), { recursive: true, force: true })
removeDocuments()
for (const tool of TOOLS.split(' ')) symlinkSync('busybox', join(root, 'usr/bin', tool))
write('etc/passwd', accounts(([name, id]) => `${name}:x:${id}:${id}::${id === '0' ? '/root' : '/'}:/usr/sbin/nologin`))
write('etc/group', accounts(([name, id]) => `${name}:x:${id}:`))
write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
for (const path of ['var/log', 'var/cache']) mkdirSync(join(root, path), { recursive: true })

/** Licences must be beside the programs; other documents need not. */
function removeDocuments() {
  const documents = join(root, 'usr/share/doc')
  for (const name of readdirSync(documents, { recursive: true, withFileTypes: true }))
    if (!name.isDirectory() && name.name !== 'copyright') rmSync(join(name.parentPath, name.name))
}

function accounts(lineOf) {
  const all = [
    ['root', '0'],
    ['waypost', '1000'],
    ['nobody', '65534'],
  ]
  return `${all.map(lineOf).join('\n')}\n`
}

function write(path, text) {
  writeFileSync(join(root, path), text)
}
