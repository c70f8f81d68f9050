/**
 * The preparation of every script: the locked dependencies in node_modules, and src and the console bundled in
 * dist. Each is made only when something changed. A stamp says so: a digest of what the result was made from.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { holdingLock } from './lock.js'

/** The directory of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const modules = join(root, 'node_modules')
const installStamp = join(modules, '.waypost-stamp')
const buildStamp = join(root, 'dist', '.stamp')
const bundleScript = join(root, 'scripts', 'bundle-server.js')
const consoleDirectory = join(root, 'dist', 'console')
const consoleStamp = join(consoleDirectory, '.stamp')
const consoleScript = join(root, 'scripts', 'bundle-console.js')
const SHELL_INTERVAL_MS = 200
const prepareLock = join(root, '.cache', 'prepare.lock')

/** Installs and builds what is missing or changed. */
export async function prepare() {
  refuseOldNode()
  await ensureInstalled()
  await build()
}

/**
 * Bundles src and the console into dist, whichever changed. The dependencies must be installed. Types are checked by
 * `npm run check`. Resolves with false where the console could not be built: the server starts without it.
 */
export async function build() {
  refuseOldNode()
  if (isBuilt() && isConsoleBuilt()) return true
  const [, hasConsole] = await holdingLock(prepareLock, () => Promise.all([makeBundle(), makeConsole()]))
  return hasConsole
}

/** Installs the dependencies where they are missing or changed. */
export async function ensureInstalled() {
  refuseOldNode()
  if (!isInstalled()) await holdingLock(prepareLock, install)
}

/** Runs a program of node_modules or of this Node; resolves with its exit code, and its output where that is captured. */
export function run(command, args, { capture = false, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit']
    const child = spawn(command, args, { cwd: root, stdio, env, shell: command.endsWith('.cmd') })
    let stopped = false
    const passOn = (signal) => {
      stopped = true
      child.kill(signal)
    }
    process.on('SIGINT', passOn).on('SIGTERM', passOn)
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk) => (output += chunk))
    child.stderr?.setEncoding('utf8').on('data', (chunk) => (output += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      process.off('SIGINT', passOn).off('SIGTERM', passOn)
      if (stopped) process.exit(1)
      resolve({ code: code ?? 1, output })
    })
  })
}

/**
 * Ends this process when the shell ends that npm started it in: npm passes SIGTERM to that shell only, and some shells do
 * not pass it on. Does nothing outside npm.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM')
  }, SHELL_INTERVAL_MS).unref()
  // A terminal signals the shell as well: a second signal would end a server that stops cleanly.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      clearInterval(watch)
      if (process.listenerCount(signal) === 0) process.exit(1)
    })
  }
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  fail(
    `Waypost needs Node.js 20.19 or newer; this is ${process.versions.node}. Install a newer one from your package manager.`,
  )
}

async function install() {
  if (isInstalled()) return
  console.log('Installing dependencies…')
  // Without these two an install that is cut off half way cannot be taken for a whole one.
  rmSync(installStamp, { force: true })
  rmSync(join(modules, '.package-lock.json'), { force: true })
  const [command, ...first] = npmCommand()
  const args = [
    ...first,
    'ci',
    '--include=dev',
    '--loglevel=error',
    '--no-progress',
    '--no-fund',
    '--no-audit',
  ]
  const { code, output } = await run(command, args, { capture: true })
  if (code !== 0) fail(`${output}\nInstalling the dependencies failed.`)
  writeFileSync(installStamp, lockDigest())
}

/** The npm that runs this script, or the one on the path. */
export function npmCommand() {
  const cli = process.env.npm_execpath
  if (cli && /npm-cli\.c?js$/.test(cli)) return [process.execPath, cli]
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm']
}

function isInstalled() {
  return readStamp(installStamp) === lockDigest() || wasInstalledByHand()
}

/** True after a plain `npm ci`: npm writes its own list of what it installed last of all. */
function wasInstalledByHand() {
  const list = join(modules, '.package-lock.json')
  if (!existsSync(list)) return false
  const installed = JSON.parse(readFileSync(list, 'utf8')).packages
  const wanted = Object.entries(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages)
  return wanted.every(([path, { version, optional, devOptional }]) => {
    if (path === '' || ((optional || devOptional) && !installed[path])) return true
    return installed[path]?.version === version && existsSync(join(root, path, 'package.json'))
  })
}

function lockDigest() {
  const { platform, arch } = process
  return digest([platform, arch, readFileSync(join(root, 'package-lock.json'))])
}

async function makeBundle() {
  if (isBuilt()) return
  console.log('Building…')
  const stamp = sourceDigest()
  rmSync(buildStamp, { force: true })
  if (!existsSync(join(modules, 'rolldown'))) fail('The dependencies are not installed: run `npm ci` first.')
  const { code, output } = await run(process.execPath, [bundleScript], { capture: true })
  if (code !== 0) fail(`${output}\nThe build failed.`)
  chmodSync(join(root, 'dist', 'main.js'), 0o755)
  writeFileSync(buildStamp, stamp)
}

/** A failure is left for the server to report, which starts all the same. */
async function makeConsole() {
  if (isConsoleBuilt()) return true
  console.log('Building the console…')
  const stamp = consoleDigest()
  rmSync(consoleDirectory, { force: true, recursive: true })
  const { code, output } = await run(process.execPath, [consoleScript], { capture: true })
  if (code === 0) {
    writeFileSync(consoleStamp, stamp)
    return true
  }
  rmSync(consoleDirectory, { force: true, recursive: true })
  mkdirSync(consoleDirectory, { recursive: true })
  writeFileSync(join(consoleDirectory, 'failure.log'), output)
  console.error(`${output.trim()}\nThe console could not be built; the server works without it.`)
  return false
}

function isConsoleBuilt() {
  return existsSync(join(consoleDirectory, 'index.html')) && readStamp(consoleStamp) === consoleDigest()
}

function consoleDigest() {
  const directory = join(root, 'console')
  if (!existsSync(directory)) return undefined
  const sources = filesBelow(directory).filter((file) => !/node_modules|\.test\.ts$/.test(file))
  const formats = filesBelow(join(root, 'src', 'formats')).filter((file) => !file.endsWith('.test.ts'))
  return digestOfFiles([...sources, ...formats, consoleScript])
}

function isBuilt() {
  return existsSync(join(root, 'dist', 'main.js')) && readStamp(buildStamp) === sourceDigest()
}

/** Covers contents, not times: a copied or freshly checked out project is not built again. */
function sourceDigest() {
  const folders = ['src', 'packages'].map((folder) => join(root, folder))
  const sources = folders.flatMap(filesBelow).filter((file) => !/\.test(-support)?\.ts$|\.md$/.test(file))
  return digestOfFiles([...sources, bundleScript, join(root, 'scripts', 'bundle.js')])
}

function digestOfFiles(files) {
  const inputs = files.sort().flatMap((file) => [relative(root, file), readFileSync(file)])
  return digest([lockDigest(), ...inputs])
}

/** The files in a directory and in those below it. */
export function filesBelow(directory) {
  return readdirSync(directory, { recursive: true })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile())
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function digest(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('hex')
}

function fail(message) {
  console.error(message.trim())
  process.exit(1)
}
