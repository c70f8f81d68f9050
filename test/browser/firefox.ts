/**
 * Debian's Firefox for the smoke test, driven by its own protocol Marionette: what playwright-core drives is a Firefox of its own.
 * Each message is its length, a colon, and a list: `[0, id, command, parameters]`, answered by `[1, id, error, result]`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needTool } from '../support/need-tool.ts'

/** Whether there is a Firefox here. */
export const firefoxTool = needTool('firefox-esr')

const WAIT_MS = 60_000
const LOOK_MS = 100

/** A Firefox with one window, which starts with a directory of its own. */
export class Firefox {
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

  /** Opens an address. */
  async open(url: string): Promise<void> {
    await this.#ask('WebDriver:Navigate', { url })
  }

  /** The value of an expression in the page. */
  async value<T>(expression: string): Promise<T> {
    const { value } = (await this.#ask('WebDriver:ExecuteScript', {
      script: `return (${expression})`,
      args: [],
    })) as { value: T }
    return value
  }

  /** Waits until an expression is true. */
  async until(expression: string): Promise<void> {
    const endMs = Date.now() + WAIT_MS
    while (!(await this.value<boolean>(`Boolean(${expression})`))) {
      if (Date.now() > endMs) {
        const text = await this.value<string>('document.body.innerText.slice(0, 2000)')
        throw new Error(`Firefox waits in vain for ${expression}; the page says:\n${text}`)
      }
      await new Promise((done) => setTimeout(done, LOOK_MS))
    }
  }

  /** Clicks the first element in sight of a CSS selector that has a text. */
  async click(selector: string, text = ''): Promise<void> {
    const found = elementOf(selector, text)
    await this.until(found)
    await this.value(`(${found}).click()`)
  }

  /** Types into the field that has this label. */
  async fill(label: string, text: string): Promise<void> {
    const field = `[...document.querySelectorAll('label')].find((one) => one.textContent.trim() === ${JSON.stringify(label)})?.control`
    await this.until(field)
    await this.value(`(${field}).focus()`)
    await this.press(text)
  }

  /** Presses keys, one after the other, where the focus is. */
  async press(text: string): Promise<void> {
    const actions = text.split('').flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#ask('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions }] })
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

const elementOf = (selector: string, text: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.offsetParent !== null && one.textContent.includes(${JSON.stringify(text)}))`

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
