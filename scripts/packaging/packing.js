/**
 * The common part of `npm run app`, `image`, `archive` and `deb`: their flags, the parts of a release, and how they run programs.
 */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../prepare.js'

/** The architectures, by the names of Node.js, with the names of Debian and OCI. */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/** The user and the directories of an installed server: the same in the image, the archive and the Debian package. */
export const PLACES = { user: 'waypost', uid: 10001, dataDir: '/var/lib/waypost', configDir: '/etc/waypost' }

/** The package.json of the project. */
export const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Runs the work of a script. An error is reported without a stack: it says what is missing, or which program failed. */
export async function runScript(work) {
  try {
    await work()
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

/** Reads `--arch x64|arm64` (default: the architecture of this machine), `--out DIR` (default: `defaultOut`) and `--fast`. */
export function readFlags(defaultOut = 'release') {
  const options = { arch: { type: 'string' }, out: { type: 'string' }, fast: { type: 'boolean' } }
  const { arch = process.arch, out = join(root, defaultOut), fast = false } = parseArgs({ options }).values
  if (!Object.hasOwn(ARCHITECTURES, arch)) throw new Error(`--arch is x64 or arm64, not ${arch}`)
  return { arch, out: resolve(out), fast }
}

/** When this script began, for a build outside of git. */
const now = Math.floor(Date.now() / 1000)

/** The time of the release in seconds: SOURCE_DATE_EPOCH, or the time of the commit. All files have this time. */
export function releaseTime() {
  return Number(process.env.SOURCE_DATE_EPOCH ?? ofGit('log', '-1', '--format=%ct') ?? now)
}

/** The commit that is packed; undefined without git. */
export function revision() {
  return ofGit('rev-parse', 'HEAD')
}

/** Throws where a program is not installed, with the Debian packages that have it: `needPrograms({ runc: 'runc' })`. */
export function needPrograms(packages) {
  const missing = Object.keys(packages).filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  const wanted = [...new Set(missing.map((name) => packages[name]))]
  throw new Error(`This needs ${missing.join(', ')}: install the Debian packages ${wanted.join(', ')}`)
}

/** Runs a program, and returns its standard output. Throws with what it reported. */
export function execute(program, args, options = {}) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 << 20, ...options })
  } catch (error) {
    const { stderr = '', stdout = '' } = error
    throw new Error(`${program} ${args.join(' ')} failed:\n${stderr}${stdout}`, { cause: error })
  }
}

/** Does the work in an empty directory, which is removed afterwards. */
export async function inWorkDirectory(work) {
  const cache = join(root, '.cache')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'packaging-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Packs directories into a tar file that depends on their contents alone: sorted names, one time, one owner (a uid, which is the gid
 * too), and modes 755 and 644. `entries` are paths below `directory`; `append` adds them to a file that is there.
 */
export function packTar(
  file,
  directory,
  { entries = ['.'], owner = 0, mode = 'u=rwX,go=rX', append = false } = {},
) {
  const sameEverywhere = ['--format=gnu', '--sort=name', '--numeric-owner', `--mtime=@${releaseTime()}`]
  const owners = [`--owner=${owner}`, `--group=${owner}`, `--mode=${mode}`]
  const place = [append ? '-rf' : '-cf', file, '-C', directory]
  execute('tar', [...sameEverywhere, ...owners, ...place, ...entries])
}

function ofGit(...args) {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

function isInstalled(name) {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return directories.some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
