import { connect } from 'node:net'
import { corpusOf } from './corpus.ts'
import { asText, foundBy } from './found.ts'
import { mutated } from './mutate.ts'
import { operationsOf } from './operations.ts'
import { Random } from './random.ts'
import { ResponseReader } from './responses.ts'

/** The options of a run. */
export interface FuzzOptions {
  readonly url: string
  readonly seconds: number
  readonly seed: number
}

/** The figures of a run. */
export interface FuzzResult {
  readonly sent: number
  readonly answered: number
  readonly statuses: ReadonlyMap<number, number>
  /** Failures: 5xx answers, and bytes that are no answers, each with the requests that caused it, as text. */
  readonly faults: readonly { readonly what: string; readonly input: string }[]
}

const CONNECTIONS = 48
const REQUESTS_OF_CONNECTION = 4
/**
 * How long a connection may stay silent. With an incomplete request it is silent for ever. On a busy machine it is this many
 * times as long as a plain connection needs: connections that are given up before they are accepted fill the queue.
 */
const SILENCE_MS = 250
const SILENCE_TIMES = 5

const GOODBYE = Buffer.from(
  'GET /nacos/v1/console/health/liveness HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
)

/** Sends the requests that were found, then mutated ones, over many connections. The same seed sends the same requests. */
export async function fuzz({ url, seconds, seed }: FuzzOptions): Promise<FuzzResult> {
  const random = new Random(seed)
  const corpus = corpusOf(await operationsOf(url), random)
  const tally = {
    sent: 0,
    answered: 0,
    statuses: new Map<number, number>(),
    faults: [] as { what: string; input: string }[],
  }
  const port = Number(new URL(url).port)
  const pace = new Pace(port)
  const found = foundBy<Buffer>('http')
  const untilMs = performance.now() + seconds * 1_000
  const made = (): Buffer =>
    Buffer.concat([...Array.from({ length: REQUESTS_OF_CONNECTION }, () => mutated(corpus, random)), GOODBYE])
  const work = async (): Promise<void> => {
    while ((found.length > 0 || performance.now() < untilMs) && tally.faults.length < 20) {
      const bytes = found.shift() ?? made()
      tally.sent += REQUESTS_OF_CONNECTION
      const problem = await converse({ port, bytes, silenceMs: pace.silenceMs }, (status, body) => {
        tally.answered++
        tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
        return status < 500 || isBusy(status, body) ? undefined : `${status}: ${body.slice(0, 300)}`
      })
      if (problem !== undefined) tally.faults.push({ what: problem, input: asText(bytes) })
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  await pace.stop()
  return tally
}

/** Measures again and again how long the server needs for a plain connection. */
class Pace {
  silenceMs = SILENCE_MS
  #isOver = false
  readonly #measuring: Promise<void>

  constructor(port: number) {
    this.#measuring = this.#measure(port)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#measuring
  }

  async #measure(port: number): Promise<void> {
    while (!this.#isOver) {
      const beganMs = performance.now()
      await converse({ port, bytes: GOODBYE, silenceMs: 0 }, () => undefined)
      this.silenceMs = Math.max(SILENCE_MS, SILENCE_TIMES * (performance.now() - beganMs))
      await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
    }
  }
}

interface Talk {
  readonly port: number
  readonly bytes: Buffer
  /** After so long without a word the connection is given up; 0: never. */
  readonly silenceMs: number
}

/** Only a few uploads may run at once, and one of each address, so this refusal is no failure. */
function isBusy(status: number, body: string): boolean {
  return status === 503 && /uploads? .*at once|server is BUSY/.test(body)
}

/** Sends bytes, checks every answer, and returns the first failure. */
function converse(
  { port, bytes, silenceMs }: Talk,
  judge: (status: number, body: string) => string | undefined,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = new ResponseReader()
    let complaint: string | undefined
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(silenceMs, () => socket.destroy())
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') complaint ??= 'the server does not answer any more'
    })
    socket.on('data', (chunk) => {
      try {
        for (const { status, body } of reader.push(chunk)) complaint ??= judge(status, body)
      } catch (error) {
        complaint ??= (error as Error).message
      }
    })
    socket.on('close', () => resolve(complaint))
    socket.write(bytes)
  })
}
