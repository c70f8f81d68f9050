/** The layers of the image: what changes least comes first, so that an update fetches little. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { layOutApp } from './app.js'
import { debianComponent, nodeComponent } from './bill.js'
import { NODE_VERSION, nodeRelease } from './node-release.js'
import { ARCHITECTURES, execute, packTar, PLACES, releaseTime } from './packing.js'

const SUITE = 'trixie'
/** Node.js needs the C++ library; busybox is the shell. base-files has the directories and the name of the system. */
const PACKAGES = ['base-files', 'libstdc++6', 'busybox']

/** Builds the layers in a directory: tar files with what each is made by, for the history of the image. */
export async function buildLayers(directory, arch) {
  const debian = join(directory, 'debian.tar')
  packDebian(debian, arch)
  const node = join(directory, 'node.tar')
  packTar(node, await nodeTree(directory, arch))
  const app = join(directory, 'app.tar')
  packApp(
    app,
    await appTree(directory, { arch, parts: [nodeComponent(NODE_VERSION), ...debianParts(debian, arch)] }),
  )
  return [
    { file: debian, madeBy: `mmdebstrap --variant=extract ${SUITE}: ${PACKAGES.join(', ')}` },
    { file: node, madeBy: `Node.js ${NODE_VERSION}` },
    { file: app, madeBy: 'npm run app' },
  ]
}

/** Packages are only extracted, and debian-root.js does the rest: this works for any architecture, and without root. */
function packDebian(file, arch) {
  const hook = fileURLToPath(new URL('debian-root.js', import.meta.url))
  const args = [
    '--quiet',
    '--variant=extract',
    `--architectures=${ARCHITECTURES[arch]}`,
    `--include=${PACKAGES.join(',')}`,
    `--extract-hook='${process.execPath}' '${hook}' "$1"`,
    '--skip=check/qemu,cleanup,output/dev,output/mknod',
    '--format=tar',
  ]
  execute('mmdebstrap', [...args, SUITE, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(releaseTime()) },
  })
}

/** The installed packages, read from the root that was made. */
function debianParts(file, arch) {
  const status = execute('tar', ['-xOf', file, './var/lib/dpkg/status'])
  const release = /^VERSION_ID="(\d+)"$/m.exec(execute('tar', ['-xOf', file, './usr/lib/os-release']))[1]
  return status
    .split('\n\n')
    .filter((text) => text !== '')
    .map((text) => {
      const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)[1]
      return debianComponent({ name: field('Package'), version: field('Version'), arch, release })
    })
}

async function nodeTree(directory, arch) {
  const tree = join(directory, 'node')
  const release = await nodeRelease(arch)
  copyInto(join(tree, 'usr/local/bin/node'), join(release, 'bin/node'))
  copyInto(join(tree, 'usr/local/share/doc/node/LICENSE'), join(release, 'LICENSE'))
  // mmdebstrap leaves it out with the devices in it; a root that is read-only needs the directory.
  mkdirSync(join(tree, 'dev'))
  return tree
}

function copyInto(to, from) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

async function appTree(directory, options) {
  const tree = join(directory, 'app')
  await layOutApp(join(tree, 'app'), options)
  mkdirSync(join(tree, 'usr/local/bin'), { recursive: true })
  symlinkSync('/app/dist/main.js', join(tree, 'usr/local/bin/waypost'))
  mkdirSync(join(tree, PLACES.dataDir), { recursive: true })
  return tree
}

/** The data directory alone belongs to the user of the server. Others must not read it. */
function packApp(file, tree) {
  packTar(file, tree, { entries: ['app', 'usr'] })
  const data = PLACES.dataDir.slice(1)
  packTar(file, tree, { entries: [data], owner: PLACES.uid, mode: '0700', append: true })
}
