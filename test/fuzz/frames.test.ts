/**
 * Sends conversations of frames of HTTP/2, valid and mutated, to the port of gRPC.
 * FUZZ_SEED repeats a run, with FUZZ_CONVERSATION only this one of it.
 */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import {
  connectRaw,
  FRAME,
  http2Frame,
  type RawConnection,
  setup,
  uint32,
  whole,
} from '../support/raw-http2.ts'
import { SILENT_MS } from '../../src/protocols/grpc/connections/connection-book.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { asText, foundBy, SEED, secondsOf } from './found.ts'
import { type Conversation, conversation, type Step } from './frame-conversations.ts'
import { Random } from './random.ts'
import { expectUnharmed, faultsOf } from './unharmed.ts'

const SECONDS = secondsOf(10)
const ONLY = process.env['FUZZ_CONVERSATION']

const AT_ONCE = 48
/** After this many conversations the server is asked whether it is well. */
const ROUND = 192
const SETTLE_MS = 100
const PAUSE_MS = 2
/** Connections that a client has ended in the middle of a frame stay for some seconds. */
const GROWTH_BYTES = 500 * 1024 * 1024

const openssl = needTool('openssl')
let server: Waypost | undefined
afterEach(async () => void (await server?.stop()))

describe.each([
  { tls: false, share: 2 / 3 },
  { tls: true, share: 1 / 3 },
])('conversations of frames (TLS: $tls)', ({ tls, share }) => {
  const milliseconds = SECONDS * share * 1_000
  test.skipIf(tls && openssl.skip)(
    `do no harm (seed ${SEED})`,
    async () => {
      server = await startWaypost({
        settings: { ...(tls ? certificate() : {}), ...SETTINGS },
        env: OFTEN_COLLECTED,
      })
      const run = new Run(server, tls)
      if (ONLY !== undefined) return await run.round([Number(ONLY)])
      for (const found of foundBy<Conversation>('frames')) await run.round([found])
      await run.round(indices(-500))
      const before = residentBytes(server.pid)
      const untilMs = performance.now() + milliseconds
      let next = 0
      for (; performance.now() < untilMs; next += ROUND) await run.round(indices(next))
      const grown = residentBytes(server.pid) - before
      console.log(
        `${next} conversations (TLS: ${tls}), ${run.answers} frames of answers, memory +${Math.round(grown / 2 ** 20)} MiB, seed ${SEED}`,
      )
      expect(run.answers).toBeGreaterThan(next)
      run.end()
      await expectUnharmed(server)
      expect(grown).toBeLessThan(GROWTH_BYTES)
    },
    milliseconds + 120_000,
  )
})

/** Errors with objects of Node show when they are collected. */
const OFTEN_COLLECTED = { NODE_OPTIONS: '--max-semi-space-size=1' }

const SETTINGS = { 'log-level': 'error', 'request-timeout': '2s' }

function certificate(): Record<string, string> {
  const { cert, key } = new Authority().forServer()
  return { 'tls-cert': cert, 'tls-key': key }
}

const indices = (from: number): number[] => Array.from({ length: ROUND }, (_, index) => from + index)

/** A run against a server. */
class Run {
  answers = 0
  readonly #server: Waypost
  readonly #tls: boolean
  #bystander: RawConnection | undefined
  #askedMs = performance.now()
  #lastId = 1

  constructor(server: Waypost, tls: boolean) {
    this.#server = server
    this.#tls = tls
  }

  /**
   * Holds these conversations, or the conversations that the seed makes of these numbers. Throws an Error if the server is not
   * well afterwards.
   */
  async round(numbers: readonly (number | Conversation)[]): Promise<void> {
    const left = [...numbers]
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await this.#hold(next)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const fault = await this.#fault()
    if (fault === undefined) return
    const [first] = numbers
    const range =
      numbers.length === 1 ? asText(made(first!)) : `${asText(first)} to ${asText(numbers.at(-1))}`
    throw new Error(
      `${fault}\nafter conversations ${range}: FUZZ_SEED=${SEED} FUZZ_CONVERSATION=<number> repeats one`,
    )
  }

  async #hold(number: number | Conversation): Promise<void> {
    const { begin, steps } = made(number)
    const connection = await this.#connect(begin)
    if (connection === undefined) return
    for (const step of steps) await take(step, connection)
    this.answers += connection.frames.length
    setTimeout(() => connection.socket.destroy(), 500)
  }

  async #connect(begin: Buffer): Promise<RawConnection | undefined> {
    try {
      return await connectRaw(this.#server.port + 1_000, { begin, tls: this.#tls })
    } catch {
      return undefined
    }
  }

  /** The fault of the server: it is gone, does not answer, or has logged a fault. */
  async #fault(): Promise<string | undefined> {
    const output = this.#server.output()
    if (!(await this.#answers())) return `the server does not answer: ${output.slice(-2_000)}`
    const faults = await faultsOf(this.#server)
    if (faults !== undefined) return `faults were caught: ${JSON.stringify(faults)}`
    return /.*"level":(50|60).*/.exec(output)?.[0] ?? /.*Error.*/.exec(output)?.[0]
  }

  /** Ends the connection that has asked whether the server is well. */
  end(): void {
    this.#bystander?.socket.destroy()
    this.#bystander = undefined
    this.#lastId = 1
  }

  async #answers(): Promise<boolean> {
    // A server ends a client that is silent and does not reply, so a slow round needs another one.
    if (performance.now() - this.#askedMs > SILENT_MS) this.end()
    this.#bystander ??= await this.#begun()
    this.#askedMs = performance.now()
    if (this.#bystander === undefined) return false
    this.#lastId += 2
    await this.#bystander.send(whole(this.#lastId, 'HealthCheckRequest'))
    await this.#bystander.answered(this.#lastId)
    return !this.#bystander.socket.destroyed
  }

  async #begun(): Promise<RawConnection | undefined> {
    try {
      const connection = await connectRaw(this.#server.port + 1_000, { tls: this.#tls })
      const window = http2Frame(FRAME.window, 0, { body: uint32(1_000_000_000) })
      await connection.send(Buffer.concat([window, setup(1)]))
      return connection
    } catch {
      return undefined
    }
  }
}

function made(number: number | Conversation): Conversation {
  return typeof number === 'number' ? conversation(new Random(SEED + 31 * number)) : number
}

/** A conversation goes on also where the server has ended the connection. */
async function take(step: Step, { socket, send, settled, reset }: RawConnection): Promise<void> {
  if (Buffer.isBuffer(step)) await Promise.race([send(step), later(SETTLE_MS)])
  else if (step === 'settle') await Promise.race([settled(), later(SETTLE_MS)])
  else if (step === 'pause') await later(PAUSE_MS)
  else if (step === 'end') socket.end()
  else if (step === 'destroy') socket.destroy()
  else reset()
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
