import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectGrpc, frameOf, framed, type GrpcClient, openCall } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { asText, foundBy, SEED, secondsOf } from './found.ts'
import { oddSample } from './grpc-corpus.ts'
import { mutated } from './mutate.ts'
import { Random } from './random.ts'
import { expectUnharmed } from './unharmed.ts'

/** Sends mutated messages over gRPC. */
const SECONDS = secondsOf(10)

const CLIENTS = 12
/** How many calls of a connection are under way. */
const AT_ONCE = 4
/** After so many calls a client connects again. */
const CALLS_OF_CONNECTION = 200
/** An answer must come in this time; a call whose frame is cut off has none. */
const ANSWER_MS = 10_000

let server: Waypost
beforeAll(async () => void (server = await startWaypost({ settings: { 'log-level': 'error' } })))
afterAll(() => server.stop())

test(
  `mutated messages over gRPC do no harm (seed ${SEED})`,
  async () => {
    const run = {
      random: new Random(SEED),
      untilMs: performance.now() + SECONDS * 1_000,
      found: foundBy<Buffer>('grpc'),
      sent: 0,
      answered: 0,
      refused: 0,
      faults: [] as string[],
    }
    await Promise.all(Array.from({ length: CLIENTS }, () => fuzzConnections(run)))
    console.log(`${run.sent} messages, ${run.answered} answers, ${run.refused} calls refused, seed ${SEED}`)
    expect(run.faults).toEqual([])
    expect(run.answered).toBeGreaterThan(run.sent / 3)
    const client = await connectGrpc(server)
    expect((await client.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
    await client.close()
    await expectUnharmed(server)
  },
  SECONDS * 1_000 + 60_000,
)

interface Run {
  readonly random: Random
  readonly untilMs: number
  /** Earlier findings that are still to be sent. */
  readonly found: Buffer[]
  sent: number
  answered: number
  refused: number
  readonly faults: string[]
}

async function fuzzConnections(run: Run): Promise<void> {
  while (hasMore(run) && run.faults.length < 10) {
    const client = await connectGrpc(server, { reply: () => (run.random.chance(0.5) ? {} : undefined) })
    let calls = CALLS_OF_CONNECTION
    const work = async (): Promise<void> => {
      while (calls-- > 0 && hasMore(run) && !client.session.destroyed) await fuzzCall(client, run)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    client.session.destroy()
    await client.ended
  }
}

const hasMore = ({ untilMs, found }: Run): boolean => found.length > 0 || performance.now() < untilMs

/** One request, and perhaps a reply on the stream. */
async function fuzzCall(client: GrpcClient, run: Run): Promise<void> {
  const { random } = run
  run.sent++
  if (random.chance(0.1)) {
    const { type, body } = oddSample(random, 'reply')
    if (client.stream!.writable) client.stream!.write(frameOf(type, body))
    // Bytes that are no message end the stream.
    if (random.chance(0.01) && client.stream!.writable) client.stream!.write(mutatedFrame(random, 'reply'))
  }
  const bytes = run.found.shift() ?? mutatedFrame(random, 'request')
  const answer = await answerTo(client, bytes)
  if (answer === undefined) run.refused++
  else {
    run.answered++
    if (answer.includes('internal error')) run.faults.push(`${asText(bytes)} → ${answer}`)
  }
}

/** A frame whose values, whose JSON, whose message, or which itself is wrong. */
function mutatedFrame(random: Random, of: 'request' | 'reply'): Buffer {
  const { type, body } = oddSample(random, of)
  const text = JSON.stringify(body)
  const headers = { accessToken: random.chance(0.1) ? 'x'.repeat(random.below(5_000)) : '' }
  if (random.chance(0.6)) return frameOf(type, text, headers)
  if (random.chance(0.5)) return frameOf(type, mutated([Buffer.from(text)], random).toString('latin1'))
  const frame = frameOf(type, text)
  if (random.chance(0.7)) return framed(mutated([frame.subarray(5)], random))
  return mutated([frame], random)
}

/** The text of the answer; undefined where the call is refused or the connection is gone. */
function answerTo({ session }: GrpcClient, bytes: Buffer): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    if (session.destroyed || session.closed) return resolve(undefined)
    const stream = openCall(session, '/Request/request')
    const late = setTimeout(() => reject(new Error(`no answer to ${asText(bytes)}`)), ANSWER_MS)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('close', () => {
      clearTimeout(late)
      resolve(chunks.length === 0 ? undefined : Buffer.concat(chunks).toString())
    })
    stream.end(bytes)
  })
}
