import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'

/** How an installed server is started. */
export interface Start {
  readonly command: readonly string[]
  /** The port that this command makes it listen on, on the loopback address. */
  readonly port: number
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** An emulated processor is slow, and so is a busy machine. */
const START_LIMIT_MS = 120_000
const PASSWORD = 'a password for tests'

/** A server that was installed as its users do, in a process of its own. Its callers must sign in. */
export class InstalledServer {
  readonly url: string
  readonly #child: ChildProcess
  #output = ''

  /** Starts it, and waits until it answers. */
  static async start(start: Start): Promise<InstalledServer> {
    const server = new InstalledServer(start)
    await expect
      .poll(() => server.#answers(), { timeout: START_LIMIT_MS, interval: 200, message: 'it answers' })
      .toBe(true)
    return server
  }

  private constructor({ command, port, cwd, env }: Start) {
    const [program = '', ...args] = command
    this.url = `http://127.0.0.1:${port}`
    this.#child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
  }

  get output(): string {
    return this.#output
  }

  /** Makes the first administrator with the code that the server printed, signs in, publishes and reads back. */
  async firstUse(): Promise<string> {
    const code = /code=([\w-]+)/.exec(this.#output)?.[1] ?? ''
    await this.#post('/svc/v1/auth/users/admin', { code, password: PASSWORD })
    const signedIn = await this.#post('/svc/v1/auth/login', { username: 'nacos', password: PASSWORD })
    const { accessToken } = JSON.parse(signedIn) as { accessToken: string }
    const item = { dataId: 'hello', group: 'DEFAULT_GROUP' }
    await this.#post('/svc/v1/cs/configs', { ...item, content: 'world' }, accessToken)
    return this.#asked(`/svc/v1/cs/configs?${new URLSearchParams(item)}`, accessToken)
  }

  /** Sends SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    return this.#child.exitCode
  }

  async #answers(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`The server has ended:\n${this.#output}`)
    return fetch(`${this.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  #post(path: string, form: Record<string, string>, token?: string): Promise<string> {
    return this.#asked(path, token, { method: 'POST', body: new URLSearchParams(form) })
  }

  async #asked(path: string, token?: string, init: RequestInit = {}): Promise<string> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${this.url}${path}`, { ...init, headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}\n${this.#output}`)
    return text
  }
}
