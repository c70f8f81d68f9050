import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const LOCK_SCRIPT = fileURLToPath(new URL('../../scripts/lock.js', import.meta.url))
const { holdingLock } = (await import(pathToFileURL(LOCK_SCRIPT).href)) as {
  holdingLock: <T>(file: string, work: () => Promise<T>) => Promise<T>
}

/** A command line; it is run in the folder of the prepared program. */
export type Command = readonly [program: string, ...args: string[]]

/** A program with a client library, which is installed and built before it is run. */
export interface PreparedProgram {
  /** The folder of its sources beside this file, and of the built program under `.cache/clients`. */
  readonly folder: string
  /** The files that fix which version of the library is installed. */
  readonly locks: readonly string[]
  /** Fetches the library; run when a lock has changed. */
  readonly install: readonly Command[]
  /** Makes the program; run when any source has changed. */
  readonly build: readonly Command[]
}

/** How programs in one language are made. */
interface Recipe extends Omit<PreparedProgram, 'folder'> {
  /** The tools that must be on the path. */
  readonly tools: readonly string[]
}

/** A program in Go. */
export const IN_GO: Recipe = {
  tools: ['go'],
  locks: ['go.mod', 'go.sum'],
  install: [['go', 'mod', 'download']],
  build: [['go', 'build', '-buildvcs=false', '-o', 'program', '.']],
}

/** A program for Node.js. */
export const IN_NODE: Recipe = {
  tools: ['node', 'npm'],
  locks: ['package.json', 'package-lock.json'],
  install: [['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']],
  build: [],
}

/** Installs packages of Python. */
export const PIP = ['venv/bin/pip', 'install', '-q', '--disable-pip-version-check'] as const

/** A program in Python. */
export const IN_PYTHON: Recipe = {
  tools: ['python3'],
  locks: ['requirements.txt'],
  install: [
    ['python3', '-m', 'venv', 'venv'],
    [...PIP, '-r', 'requirements.txt'],
  ],
  build: [],
}

/** The tools for a program in Java. */
export const JAVA_TOOLS = ['java', 'javac', 'mvn'] as const

/** Copies the libraries that a pom.xml names into a folder; `versions`: properties of Maven. */
export function copyJars(folder: string, versions: Readonly<Record<string, string>> = {}): Command {
  const set = Object.entries(versions).map(([name, version]) => `-D${name}.version=${version}`)
  return ['mvn', '-q', '-B', 'dependency:copy-dependencies', ...set, `-DoutputDirectory=${folder}`]
}

/** The time that a hook which prepares a program may take. */
export const PREPARE_LIMIT_MS = 300_000

/** Installs and builds what is missing or changed, unless another process does: then it waits for that. */
export async function prepare(program: PreparedProgram): Promise<void> {
  await holdingLock(`${preparedFolder(program)}.lock`, () => prepareHere(program))
}

async function prepareHere(program: PreparedProgram): Promise<void> {
  const source = fileURLToPath(new URL(program.folder, import.meta.url))
  const folder = preparedFolder(program)
  const files = readdirSync(source).sort()
  // The names of all files belong to it: a source that is gone must not linger in the prepared folder.
  const locks = digest(source, program.locks) + files.join() + JSON.stringify(program.install)
  const sources = digest(source, files)
  if (!isStamped(folder, 'locks', locks)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    await runAll(program.install, { source, folder })
    writeFileSync(stamp(folder, 'locks'), locks)
  }
  if (!isStamped(folder, 'sources', sources)) {
    await runAll(program.build, { source, folder })
    writeFileSync(stamp(folder, 'sources'), sources)
  }
}

/** Where a program is made and run. */
export function preparedFolder({ folder }: PreparedProgram): string {
  return fileURLToPath(new URL(`../../.cache/clients/${folder}`, import.meta.url))
}

async function runAll(commands: readonly Command[], at: { source: string; folder: string }): Promise<void> {
  cpSync(at.source, at.folder, { recursive: true })
  const limits = { cwd: at.folder, env: process.env, limitMs: PREPARE_LIMIT_MS }
  for (const command of commands) await execute(command, limits)
}

function digest(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

function stamp(folder: string, of: string): string {
  return join(folder, `.${of}-digest`)
}

function isStamped(folder: string, of: string, wanted: string): boolean {
  return existsSync(stamp(folder, of)) && readFileSync(stamp(folder, of), 'utf8') === wanted
}

interface Limits {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly limitMs: number
}

/** Runs a command to its end and returns its output. Throws with its errors if it fails or takes too long. */
export function execute([program, ...args]: Command, { cwd, env, limitMs }: Limits): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that helper processes of the libraries end with it.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { out: '', err: '' }
    const fail = (why: string) =>
      reject(new Error(`${program} ${why}; it printed:\n${printed.out}${printed.err}`))
    const timer = setTimeout(() => {
      endGroup(child.pid)
      fail(`did not end within ${limitMs} ms`)
    }, limitMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
    child.on('error', (error) => fail(`could not be run (${error.message})`))
    child.on('exit', (code) => {
      clearTimeout(timer)
      endGroup(child.pid)
      if (code !== 0) fail(`ended with ${code}`)
    })
    child.on('close', () => resolve(printed.out))
  })
}

/** Ends a process that leads a group of its own, with what it has started. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of the group is left.
  }
}
