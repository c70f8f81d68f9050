import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectGrpc, frameOf, framed, type GrpcClient, openCall } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { oddSample } from './grpc-corpus.ts'
import { mutated } from './mutate.ts'
import { Random } from './random.ts'
import { expectUnharmed } from './unharmed.ts'

/** Sends mutated messages over gRPC. FUZZ_REQUESTS and FUZZ_SEED: see fuzz.test.ts. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 4_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
/** A run ends after so long, whatever is left. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 3_600)

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
  `${REQUESTS} mutated messages over gRPC do no harm (seed ${SEED})`,
  async () => {
    const run = {
      random: new Random(SEED),
      left: REQUESTS,
      sent: 0,
      answered: 0,
      refused: 0,
      faults: [] as string[],
    }
    const late = setTimeout(() => (run.left = 0), SECONDS * 1_000)
    await Promise.all(Array.from({ length: CLIENTS }, () => fuzzConnections(run)))
    clearTimeout(late)
    console.log(`${run.sent} messages, ${run.answered} answers, ${run.refused} calls refused, seed ${SEED}`)
    expect(run.faults).toEqual([])
    expect(run.answered).toBeGreaterThan(run.sent / 3)
    const client = await connectGrpc(server)
    expect((await client.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
    await client.close()
    await expectUnharmed(server)
  },
  Math.max(60_000, REQUESTS * 5),
)

interface Run {
  readonly random: Random
  left: number
  sent: number
  answered: number
  refused: number
  readonly faults: string[]
}

async function fuzzConnections(run: Run): Promise<void> {
  while (run.left > 0 && run.faults.length < 10) {
    const client = await connectGrpc(server, { reply: () => (run.random.chance(0.5) ? {} : undefined) })
    let calls = Math.min(CALLS_OF_CONNECTION, run.left)
    run.left -= calls
    const work = async (): Promise<void> => {
      while (calls-- > 0 && !client.session.destroyed) await fuzzCall(client, run)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    client.session.destroy()
    await client.ended
  }
}

/** One request, and perhaps a reply on the stream. */
async function fuzzCall(client: GrpcClient, run: Run): Promise<void> {
  const { random } = run
  run.sent++
  if (random.chance(0.1)) {
    const { type, body } = oddSample(random, 'reply')
    if (client.stream!.writable) client.stream!.write(frameOf(type, body))
    // What is no message ends the stream.
    if (random.chance(0.01) && client.stream!.writable) client.stream!.write(mutatedFrame(random, 'reply'))
  }
  const bytes = mutatedFrame(random, 'request')
  const answer = await answerTo(client, bytes)
  if (answer === undefined) run.refused++
  else {
    run.answered++
    if (answer.includes('internal error')) run.faults.push(`${bytes.toString('base64')} → ${answer}`)
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
    const late = setTimeout(() => reject(new Error(`no answer to ${bytes.toString('base64')}`)), ANSWER_MS)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('close', () => {
      clearTimeout(late)
      resolve(chunks.length === 0 ? undefined : Buffer.concat(chunks).toString())
    })
    stream.end(bytes)
  })
}
