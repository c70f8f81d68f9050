/**
 * Debian's Firefox, driven by its own protocol Marionette: what playwright-core drives is a Firefox of its own.
 * Each message is its length, a colon, and a list: `[0, id, command, parameters]`, answered by `[1, id, error, result]`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needTool } from '../support/need-tool.ts'
import { Tab, type TabCookie, type Tabs } from './tab.ts'

/** Whether there is a Firefox here. */
export const firefoxTool = needTool('firefox-esr')

const WAIT_MS = 60_000
const LOOK_MS = 100

/** A tab of Firefox; it comes to the front when it is used. */
class FirefoxTab extends Tab {
  readonly #ask: (command: string, parameters: object) => Promise<unknown>

  constructor(ask: (command: string, parameters: object) => Promise<unknown>) {
    super()
    this.#ask = ask
  }

  async open(url: string): Promise<void> {
    await this.#ask('WebDriver:Navigate', { url })
  }

  async value<T>(expression: string): Promise<T> {
    const script = `return (${expression})`
    return ((await this.#ask('WebDriver:ExecuteScript', { script, args: [] })) as { value: T }).value
  }

  async press(text: string): Promise<void> {
    const actions = text.split('').flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#ask('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions }] })
  }
}

/** A Firefox, which starts with a directory of its own and one tab. */
export class Firefox implements Tabs {
  /** The tab that it starts with. */
  readonly first = this.#tabOf(undefined)
  readonly #process: ChildProcess
  readonly #socket: Socket
  readonly #profile: string
  readonly #pending = new Map<number, (answer: readonly [unknown, unknown]) => void>()
  #lastId = 0
  #read = Buffer.alloc(0)

  private constructor(process: ChildProcess, socket: Socket, profile: string) {
    this.#process = process
    this.#socket = socket
    this.#profile = profile
    socket.on('data', (data: Buffer) => this.#receive(data))
  }

  static async start(): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'waypost-firefox-'))
    const port = await freePort()
    const preferences = {
      'marionette.port': port,
      'intl.accept_languages': 'en-US',
      'app.update.enabled': false,
    }
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
    )
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const flags = [
      '--headless',
      '--marionette',
      '--profile',
      profile,
      '--no-remote',
      '--width=1280',
      '--height=800',
    ]
    const process = spawn('firefox-esr', flags, { stdio: 'ignore' })
    const firefox = new Firefox(process, await reached(port, process), profile)
    await firefox.#ask('WebDriver:NewSession', { capabilities: { alwaysMatch: {} } })
    return firefox
  }

  async newTab(): Promise<Tab> {
    const { handle } = (await this.#ask('WebDriver:NewWindow', { type: 'tab' })) as { handle: string }
    return this.#tabOf(handle)
  }

  async forget(url: string): Promise<void> {
    // Firefox shows JSON on a page of its own.
    await this.#ask('WebDriver:Navigate', { url })
    await this.clearCookies()
    const handles = (await this.#ask('WebDriver:GetWindowHandles', {})) as string[]
    await this.#ask('WebDriver:ExecuteScript', { script: 'localStorage.clear()', args: [] })
    for (const handle of handles.slice(1)) {
      await this.#ask('WebDriver:SwitchToWindow', { handle })
      await this.#ask('WebDriver:CloseWindow', {})
    }
    await this.#ask('WebDriver:SwitchToWindow', { handle: handles[0] })
  }

  async cookies(): Promise<TabCookie[]> {
    return (await this.#ask('WebDriver:GetCookies', {})) as TabCookie[]
  }

  async setCookie(cookie: TabCookie): Promise<void> {
    await this.#ask('WebDriver:AddCookie', { cookie: { ...cookie, path: '/', httpOnly: true } })
  }

  async clearCookies(): Promise<void> {
    await this.#ask('WebDriver:DeleteAllCookies', {})
  }

  #tabOf(handle: string | undefined): Tab {
    return new FirefoxTab(async (command, parameters) => {
      if (handle !== undefined) await this.#ask('WebDriver:SwitchToWindow', { handle, focus: true })
      return this.#ask(command, parameters)
    })
  }

  async stop(): Promise<void> {
    this.#socket.destroy()
    const ended = once(this.#process, 'exit')
    this.#process.kill()
    await ended
    rmSync(this.#profile, { recursive: true, force: true })
  }

  async #ask(command: string, parameters: object): Promise<unknown> {
    const id = ++this.#lastId
    const text = JSON.stringify([0, id, command, parameters])
    const answered = new Promise<readonly [unknown, unknown]>((resolve) => this.#pending.set(id, resolve))
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`)
    const [error, result] = await answered
    if (error !== null) throw new Error(`${command}: ${JSON.stringify(error).slice(0, 500)}`)
    return result
  }

  #receive(data: Buffer): void {
    this.#read = Buffer.concat([this.#read, data])
    for (;;) {
      const colon = this.#read.indexOf(':')
      if (colon < 0) return
      const end = colon + 1 + Number(this.#read.subarray(0, colon))
      if (this.#read.length < end) return
      const message = JSON.parse(this.#read.subarray(colon + 1, end).toString()) as unknown
      this.#read = this.#read.subarray(end)
      // The first message is a greeting.
      if (!Array.isArray(message)) continue
      const [, id, error, result] = message as [number, number, unknown, unknown]
      this.#pending.get(id)?.([error, result])
      this.#pending.delete(id)
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** A connection to a browser that starts. */
async function reached(port: number, process: ChildProcess): Promise<Socket> {
  const endMs = Date.now() + WAIT_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    if (isThere) return socket
    if (process.exitCode !== null || Date.now() > endMs) throw new Error('Firefox does not start')
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
}
