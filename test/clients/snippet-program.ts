/** Runs the programs that the console shows under "Connect an application", as they are, with the unmodified libraries. */
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Snippet } from '../../console/src/connect/snippets.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { GO } from './grpc/go-program.ts'
import { JAVA } from './grpc/java-program.ts'
import { PYTHON } from './grpc/python-program.ts'
import { RUST } from './grpc/rust-program.ts'
import { endGroup, IN_NODE, type PreparedProgram, preparedFolder } from './prepared-program.ts'

/** A library, and how a shell finds it: `$LIBRARY` is the folder of the prepared program. */
interface SnippetLibrary {
  readonly program: PreparedProgram
  readonly tools: readonly string[]
  /** What the server must be told of the client. */
  readonly says: RegExp
  /** Files of the prepared program that belong beside the code. */
  readonly beside: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const NPM: PreparedProgram = { ...IN_NODE, folder: 'npm' }

/** The libraries of the snippets, by the names that the console has for them. */
export const SNIPPET_LIBRARIES: Readonly<Record<string, SnippetLibrary>> = {
  'Node.js': { program: NPM, tools: IN_NODE.tools, says: /Nodejs|nacos/i, beside: ['node_modules'], env: {} },
  Python: {
    program: PYTHON,
    tools: PYTHON.tools,
    says: /Nacos-Python-Client/,
    beside: [],
    env: { PYTHONPATH: inFolder(PYTHON, 'lib-2.0.11'), PATH: pathWith(PYTHON) },
  },
  Rust: {
    program: RUST,
    tools: RUST.tools,
    says: /Nacos-Rust-Client/,
    beside: [],
    env: { PATH: pathWith(RUST) },
  },
  Go: { program: GO, tools: GO.tools, says: /Nacos-Go-Client/, beside: ['go.mod', 'go.sum'], env: {} },
  Java: {
    program: JAVA,
    tools: JAVA.tools,
    says: /Nacos-Java-Client/,
    beside: [],
    env: { JDK_JAVA_OPTIONS: '-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1' },
  },
}

function inFolder(program: PreparedProgram, name: string): string {
  return join(preparedFolder(program), name)
}

function pathWith(program: PreparedProgram): string {
  return `${inFolder(program, 'venv/bin')}:${process.env['PATH']}`
}

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => endGroup(child.pid)))

/** A program that has been started, with a folder of its own. */
export interface RunningSnippet {
  /** Its output so far, of both streams. */
  output(): string
  stop(): void
}

/** Starts the program of a file by the command that the console shows; `password` is put where the command leaves it out. */
export function runSnippet(
  library: string,
  { file, code, run }: Pick<Snippet, 'file' | 'code' | 'run'>,
  password: string,
): RunningSnippet {
  const { program, beside, env } = SNIPPET_LIBRARIES[library]!
  const cwd = temporaryDirectory('snippet-')
  writeFileSync(join(cwd, file), code)
  for (const name of beside)
    if (name === 'node_modules') symlinkSync(inFolder(program, name), join(cwd, name))
    else cpSync(inFolder(program, name), join(cwd, name))
  if (library === 'Java') symlinkSync(inFolder(program, 'lib-2.5.1'), join(cwd, 'lib'))
  // Go and Java keep what they have built and loaded in the home directory; all others keep logs there.
  const home = library === 'Go' ? {} : { HOME: cwd }
  const child = spawn('sh', ['-c', run.replace('…', password)], {
    cwd,
    env: { ...process.env, ...home, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return {
    output: () => printed,
    stop() {
      endGroup(child.pid)
      running.delete(child)
    },
  }
}
