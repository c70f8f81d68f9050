import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { endGroup, type Command } from '../prepared-program.ts'

/** How an application is run. */
export interface ApplicationOptions {
  readonly command: Command
  readonly cwd: string
  /** A folder for what its libraries write. */
  readonly home: string
}

const STOP_LIMIT_MS = 15_000
const ASK_LIMIT_MS = 5_000
const LOOK_EVERY_MS = 200
const KEPT_LOG = 20_000

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => endGroup(child.pid)))

/** An application in a process of its own, which is asked over HTTP. */
export class Application {
  readonly #child: ChildProcess
  readonly #url: string
  #log = ''

  constructor(port: number, { command: [program, ...args], cwd, home }: ApplicationOptions) {
    this.#url = `http://127.0.0.1:${port}`
    const env = { ...process.env, HOME: home, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
    this.#child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    const keep = (text: string): void => void (this.#log = `${this.#log}${text}`.slice(-KEPT_LOG))
    this.#child.stdout!.setEncoding('utf8').on('data', keep)
    this.#child.stderr!.setEncoding('utf8').on('data', keep)
    this.#child.on('error', (error) => keep(error.message))
    this.#child.on('close', () => running.delete(this.#child))
  }

  /** The text of its answer, whatever the status; '' while it does not answer. */
  async answer(path: string): Promise<string> {
    const signal = AbortSignal.timeout(ASK_LIMIT_MS)
    const asked = fetch(`${this.#url}${path}`, { signal }).then((response) => response.text())
    return asked.catch(() => '')
  }

  /** Asks until the answer is the wanted one. Throws with the log of the application after `limitMs`. */
  async until(path: string, wanted: string, limitMs: number): Promise<void> {
    const deadline = Date.now() + limitMs
    for (;;) {
      const answer = await this.answer(path)
      if (answer === wanted) return
      if (Date.now() > deadline || this.#hasEnded())
        throw new Error(`${path} answers ${JSON.stringify(answer)}, not ${wanted}; log:\n${this.#log}`)
      await sleep(LOOK_EVERY_MS)
    }
  }

  /** Ends it in order, as an operator does. */
  async stop(): Promise<void> {
    if (this.#hasEnded()) return
    const closed = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    const killer = setTimeout(() => endGroup(this.#child.pid), STOP_LIMIT_MS)
    await closed
    clearTimeout(killer)
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    if (this.#hasEnded()) return
    const closed = once(this.#child, 'close')
    endGroup(this.#child.pid)
    await closed
  }

  #hasEnded(): boolean {
    const { exitCode, signalCode, pid } = this.#child
    return exitCode !== null || signalCode !== null || pid === undefined
  }
}
