/** The tree of the Debian package, as dpkg-deb reads it. */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { filesBelow } from '../prepare.js'
import { deployed, layOutInstalled, put, putUnit } from './installed-tree.js'
import { about, ARCHITECTURES, execute, PLACES } from './packing.js'

const SCRIPTS = ['postinst', 'prerm', 'postrm']
const SETTINGS = join(PLACES.configDir, 'waypost.conf')

/** Lays out the files of the package, and DEBIAN with what dpkg reads. */
export async function layOutDebian(tree, { arch, version }) {
  const usr = join(tree, 'usr')
  await layOutInstalled(usr, arch)
  // Debian's own places for these files.
  renameSync(join(usr, 'share/zsh/site-functions'), join(usr, 'share/zsh/vendor-completions'))
  compress(join(usr, 'share/man/man1/waypost.1'))
  renameSync(join(usr, 'share/doc/waypost/CHANGELOG.md'), join(usr, 'share/doc/waypost/changelog'))
  compress(join(usr, 'share/doc/waypost/changelog'))
  rmSync(join(usr, 'share/doc/waypost/LICENSE'))
  put(tree, 'usr/share/doc/waypost/copyright', { text: deployed('debian/copyright') })
  putUnit(tree, 'usr/lib/systemd/system/waypost.service', '/usr')
  put(tree, SETTINGS, { text: deployed('waypost.conf') })
  execute('chmod', ['-R', 'u=rwX,go=rX', tree])
  putControl(tree, { arch, version })
}

function putControl(tree, { arch, version }) {
  const files = filesBelow(tree)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const digest = (file) => createHash('md5').update(readFileSync(file)).digest('hex')
  const programs = files.filter((file) => !file.startsWith(join(tree, 'etc')))
  const sums = programs.sort().map((file) => `${digest(file)}  ${relative(tree, file)}\n`)
  put(tree, 'DEBIAN/control', { text: controlOf({ arch, version, kibibytes: Math.ceil(bytes / 1024) }) })
  put(tree, 'DEBIAN/md5sums', { text: sums.join('') })
  put(tree, 'DEBIAN/conffiles', { text: `${SETTINGS}\n` })
  for (const name of SCRIPTS) put(tree, `DEBIAN/${name}`, { text: deployed(`debian/${name}`), mode: 0o755 })
  execute('chmod', ['-R', 'u=rwX,go=rX', join(tree, 'DEBIAN')])
}

/** Node.js 24 asks for these versions of the libraries. */
function controlOf({ arch, version, kibibytes }) {
  return `Package: waypost
Version: ${version}
Architecture: ${ARCHITECTURES[arch]}
Maintainer: The Waypost authors <waypost@localhost>
Section: net
Priority: optional
Installed-Size: ${kibibytes}
Depends: adduser, init-system-helpers (>= 1.54~), libc6 (>= 2.28), libstdc++6 (>= 8)
Description: server for configuration and service discovery
 ${about.description.replaceAll(/(.{1,75})(?: |$)/g, '$1\n ').trim()}
 .
 The package has its own Node.js. The service listens on 127.0.0.1:8848.
`
}

function compress(file) {
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  rmSync(file)
}
