import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect } from 'vitest'
import { type Examined, serverForThisFile } from '../interface/client.ts'
import { temporaryDirectory } from '../support/waypost.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The output of a run of the command, and its exit code. */
export interface Ran {
  readonly code: number | null
  readonly bytes: Buffer
  readonly out: string
  readonly err: string
}

/** A server for the tests of a file, and a terminal whose commands go to it. */
export function terminalForThisFile(): Examined & { readonly terminal: Terminal } {
  const examined = serverForThisFile()
  const here = examined as typeof examined & { terminal: Terminal }
  beforeAll(() => void (here.terminal = new Terminal({ WAYPOST_SERVER: here.server.url })))
  return here
}

/** A user at a terminal, with contexts of their own. */
export class Terminal {
  readonly clientFile = join(temporaryDirectory('terminal-'), 'waypost', 'client.json')
  readonly #env: Readonly<Record<string, string>>

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      TERM: 'xterm',
      WAYPOST_CLIENT_FILE: this.clientFile,
      ...env,
    }
  }

  /** Runs `waypost` with these words; `input` is its standard input. */
  async run(
    args: readonly string[],
    input: string | Buffer = '',
    env: Record<string, string> = {},
  ): Promise<Ran> {
    return ended(this.#spawn([process.execPath, MAIN, ...args], env), input)
  }

  /** Runs a line of bash, in which `waypost` is the command. */
  async inShell(line: string): Promise<Ran> {
    const script = `set -o pipefail; waypost() { '${process.execPath}' '${MAIN}' "$@"; }; ${line}`
    return ended(this.#spawn(['bash', '--norc', '-c', script], {}), '')
  }

  /** Runs it without the right of root to open every file, which other users do not have anyway. */
  async asOrdinaryUser(args: readonly string[]): Promise<Ran> {
    const without = '-dac_override,-dac_read_search'
    const weaker = ['setpriv', `--bounding-set=${without}`, `--inh-caps=${without}`]
    return ended(
      this.#spawn([...(process.getuid!() === 0 ? weaker : []), process.execPath, MAIN, ...args], {}),
      '',
    )
  }

  /** Runs it to exit code 0, and gives what it printed. */
  async ok(...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(args)
    expect([code, err], `waypost ${args.join(' ')}: ${out}`).toEqual([0, ''])
    return out
  }

  /** Runs it on a terminal of its own, by the program `script`. Its output has both streams. */
  async onTerminal(args: readonly string[], input = '', env: Record<string, string> = {}): Promise<Ran> {
    return ended(this.#spawnOnTerminal(args, env), input)
  }

  /** Starts it on a terminal of its own, to type while it runs. */
  startOnTerminal(args: readonly string[]): Started {
    return new Started(this.#spawnOnTerminal(args, {}))
  }

  /** Starts it, for commands that do not end by themselves. */
  start(args: readonly string[]): Started {
    return new Started(this.#spawn([process.execPath, MAIN, ...args], {}))
  }

  #spawnOnTerminal(args: readonly string[], env: Record<string, string>): ChildProcess {
    const words = [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    return this.#spawn(['script', '-qec', `exec ${words.join(' ')}`, '/dev/null'], {
      SHELL: '/bin/sh',
      ...env,
    })
  }

  #spawn([program, ...args]: readonly string[], env: Record<string, string>): ChildProcess {
    return spawn(program!, args, { env: { ...this.#env, ...env } })
  }
}

/** A running command. */
class Started {
  readonly #child: ChildProcess
  out = ''
  err = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout!.on('data', (chunk: Buffer) => (this.out += chunk.toString()))
    child.stderr!.on('data', (chunk: Buffer) => (this.err += chunk.toString()))
  }

  /** Types on its terminal. */
  type(text: string): void {
    this.#child.stdin!.write(text)
  }

  /** Resolves when it has printed this. */
  async printed(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.err + this.out, { timeout: 30_000, interval: 20 }).toMatch(text)
  }

  /** Resolves with the exit code once it has ended. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode
    return new Promise((resolve) => this.#child.on('close', resolve))
  }

  /** Ends it, and waits for that. */
  async stop(): Promise<void> {
    await this.signalled('SIGKILL')
  }

  /** Sends a signal. Resolves with the exit code; null where the signal has ended it. */
  async signalled(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const ended = this.ended()
    this.#child.kill(signal)
    return ended
  }
}

async function ended(child: ChildProcess, input: string | Buffer): Promise<Ran> {
  const out: Buffer[] = []
  let err = ''
  child.stdout!.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin!.on('error', () => undefined).end(input)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const bytes = Buffer.concat(out)
  return { code, bytes, out: bytes.toString(), err }
}
