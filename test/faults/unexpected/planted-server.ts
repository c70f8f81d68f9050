import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, temporaryDirectory } from '../../support/waypost.ts'

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const PRELOAD = fileURLToPath(new URL('preload.mjs', import.meta.url))
const START_LIMIT_MS = 30_000

/** A message of the preload. */
interface Message {
  readonly fired?: string
  readonly called?: readonly string[]
  readonly known?: readonly string[]
}

/** A server whose callbacks throw when they are told to. After its end it can be started again, on the same data. */
export class PlantedServer {
  readonly port: number
  readonly #dataDir = temporaryDirectory('planted-')
  #child: ChildProcess | undefined
  #printed = ''
  #called = new Set<string>()
  readonly #known = new Set<string>()
  #fired = new Set<string>()

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<PlantedServer> {
    const server = new PlantedServer(await freePort())
    await server.startAgain()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Its output since its last start. */
  get printed(): string {
    return this.#printed
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#child?.exitCode ?? (this.#child?.signalCode === null ? undefined : -1)
  }

  async startAgain(): Promise<void> {
    const settings = ['--port', `${this.port}`, '--data-dir', this.#dataDir, '--max-event-streams', '100']
    const child = spawn(process.execPath, ['--import', PRELOAD, MAIN, 'start', ...settings], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#printed = ''
    child.stdout!.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()))
    child.stderr!.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()))
    child.on('message', (message: Message) => {
      for (const site of message.called ?? []) this.#called.add(site)
      for (const site of message.known ?? []) this.#known.add(site)
      if (message.fired !== undefined) this.#fired.add(message.fired)
    })
    child.on('error', () => undefined)
    const untilMs = Date.now() + START_LIMIT_MS
    while (!this.#printed.includes('the server has started')) {
      if (this.exitCode !== undefined || Date.now() > untilMs)
        throw new Error(`the server did not start:\n${this.#printed}`)
      await sleep(20)
    }
  }

  /** The sites that were called so far, in all threads. */
  async called(): Promise<readonly string[]> {
    this.#send({ sites: true })
    await sleep(300)
    return [...this.#called].sort()
  }

  /** The sites of the code that was loaded and that nobody has called. */
  get uncalled(): string[] {
    return [...this.#known].filter((site) => !this.#called.has(site)).sort()
  }

  /** Lets the next call of a site throw. */
  arm(site: string): void {
    this.#fired.delete(site)
    this.#send({ arm: site })
  }

  disarm(): void {
    this.#send({ arm: null })
  }

  hasFired(site: string): boolean {
    return this.#fired.has(site)
  }

  async stop(): Promise<number | undefined> {
    const child = this.#child!
    if (this.exitCode !== undefined) return this.exitCode
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(10_000)])
    if (this.exitCode === undefined) child.kill('SIGKILL')
    return this.exitCode
  }

  #send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message, () => undefined)
  }
}
