/** The recorded requests to the Java servers are sent to this server, and the answers are compared key by key (README.md). */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { Client, type Reply } from '../interface/client.ts'
import { type Body, connectGrpc, type GrpcClient, type Spoken } from '../support/grpc-client.ts'
import { startWaypost } from '../support/waypost.ts'
import { DecidedDifferences } from './decided-differences.ts'
import { lacksOf, shapeOf } from './shapes.ts'

interface Exchange {
  readonly request: string
  readonly form?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly body: string
}

interface Said {
  readonly from: 'client' | 'server' | 'server on the stream'
  readonly type: string
  readonly body: string
}

interface Recorded {
  readonly server: string
  readonly http: readonly Exchange[]
  readonly grpc: readonly Said[]
}

const recorded = ['1.4.8', '2.5.1'].map((version) => {
  const file = new URL(`java-${version}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
})
const decided = new DecidedDifferences()

/** A cookie of the servlet container says nothing about the interface. */
const NOT_COMPARED = ['set-cookie']

describe.each(recorded)('the answers of Java $server', ({ server: version, http, grpc }) => {
  test('over HTTP are ours too', async () => {
    const server = await startWaypost()
    const client = new Client(server.url)
    const [name, ids] = [new Names(), new Ids()]
    const undecided: string[] = []
    for (const exchange of http) {
      const [method = '', target = ''] = exchange.request.split(' ')
      const { form, headers } = exchange
      const reply = await client.call(method, ids.ours(target), { form, ...(headers && { headers }) })
      ids.learn(exchange.body, reply.text)
      const asked = name.of([exchange.request, ...Object.keys(headers ?? {})].join(' '))
      const left = decided.undecided(version, asked, differencesOf(exchange, reply))
      undecided.push(...left.map((one) => `${asked} ${one} in ${reply.text.slice(0, 400)}`))
    }
    client.close()
    await server.stop()
    expect(undecided).toEqual([])
  }, 60_000)

  // Java 1.4.8 has no gRPC.
  if (grpc.length === 0) return
  test('over gRPC are ours too, with what is pushed', async () => {
    const server = await startWaypost()
    const session = await Session.begin(server)
    const undecided: string[] = []
    for (const [index, said] of grpc.entries()) {
      if (said.from === 'client') {
        await session.say(said, grpc[index + 1]!)
        continue
      }
      const ours = await session.heard(said)
      const left = decided.undecided(version, session.asked, differencesOfBodies(said, ours))
      undecided.push(...left.map((one) => `${session.asked} → ${said.type} ${one} in ${ours?.text}`))
    }
    await session.end()
    await server.stop()
    expect(undecided).toEqual([])
  }, 90_000)
})

/** The ids that records of pages have there and here: requests name them. */
class Ids {
  readonly #ours = new Map<string, string>()

  learn(theirs: string, ours: string): void {
    const [there, here] = [idsIn(theirs), idsIn(ours)]
    for (const [index, id] of there.entries()) this.#ours.set(id, here[index] ?? id)
  }

  ours(target: string): string {
    return target.replace(/(?<=[?&]n?id=)\d+/, (id) => this.#ours.get(id) ?? id)
  }
}

function idsIn(text: string): string[] {
  if (!text.includes('"pageItems"')) return []
  return Array.from(text.matchAll(/"id":"(\d+)"/g), ([, id]) => id!)
}

/** Names requests: one that is repeated has a number. */
class Names {
  readonly #counts = new Map<string, number>()

  of(request: string): string {
    const count = (this.#counts.get(request) ?? 0) + 1
    this.#counts.set(request, count)
    return count === 1 ? request : `${request} #${count}`
  }
}

// After the tests that use them.
afterAll(() => expect(decided.unused(), 'rows of the table that are stale').toEqual([]))

function differencesOf({ status, answerHeaders, body }: Exchange, reply: Reply): string[] {
  const shape = shapeOf(body)
  const headers = Object.entries(answerHeaders).filter(([name]) => !NOT_COMPARED.includes(name))
  return [
    ...(reply.status === status ? [] : [`status: ${reply.status}, not ${status}`]),
    ...headers.flatMap(([name, value]) => {
      const ours = reply.headers[name]
      return ours === value ? [] : [`${name}: ${String(ours)}, not ${value}`]
    }),
    ...(shape === undefined ? differencesOfTexts(body, reply.text) : lacksOf(shape, shapeOf(reply.text))),
  ]
}

function differencesOfTexts(theirs: string, ours: string): string[] {
  return theirs === ours ? [] : [`text: ${JSON.stringify(ours.slice(0, 200))}, not ${JSON.stringify(theirs)}`]
}

function differencesOfBodies({ type, body }: Said, ours: Spoken | undefined): string[] {
  if (ours === undefined) return ['push: missing']
  if (ours.type !== type) return [`type: ${ours.type}, not ${type}`]
  const theirs = JSON.parse(body) as Body
  const others = SAME_VALUES.filter((key) => key in theirs && theirs[key] !== ours.body[key])
  return [
    ...lacksOf(shapeOf(body)!, shapeOf(ours.text)),
    ...others.map((key) => `${key}: ${String(ours.body[key])}, not ${String(theirs[key])}`),
  ]
}

/** Keys whose values clients go by. */
const SAME_VALUES = ['resultCode', 'errorCode', 'message', 'success', 'type', 'beta', 'count', 'module']

/** Longer than the server waits before it asks a silent client. */
const SILENCE_MS = 30_000

/** One client that says what the recorded one has said. */
class Session {
  readonly #server: { readonly port: number }
  readonly #client: GrpcClient
  /** One that says nothing, so that the server asks whether it is there. */
  readonly #silent: GrpcClient
  readonly #name = new Names()
  #answer: Spoken | undefined
  /** Whether what was asked last is refused here, but not there. */
  #isRefused = false
  /** The last request. */
  asked = ''

  private constructor(
    server: { readonly port: number },
    { client, silent }: { readonly client: GrpcClient; readonly silent: GrpcClient },
  ) {
    this.#server = server
    this.#client = client
    this.#silent = silent
  }

  static async begin(server: { readonly port: number }): Promise<Session> {
    const setup = { clientVersion: 'Nacos-Java-Client:v2.5.1' }
    const connect = (): Promise<GrpcClient> => connectGrpc(server, { setup })
    return new Session(server, { client: await connect(), silent: await connect() })
  }

  /** Asks what the client has asked, and keeps the answer. The recorded client had asked once before its setup. */
  async say({ type, body }: Said, answer: Said): Promise<void> {
    this.asked = this.#name.of(`${type} ${body}`)
    const isEarly = answer.body.includes('unregistered')
    const client = isEarly ? await connectGrpc(this.#server, { setup: false }) : this.#client
    this.#answer = await client.ask(type, { requestId: undefined, ...(JSON.parse(body) as Body) })
    this.#isRefused = this.#answer.body['success'] === false && answer.body.includes('"success":true')
    if (isEarly) await client.close()
  }

  /** The answer, or what is pushed; undefined where nothing is pushed because the request was refused. */
  async heard({ from, type, body }: Said): Promise<Spoken | undefined> {
    if (from === 'server') return this.#answer
    if (type === 'ClientDetectionRequest') return this.#asked(type)
    if (type !== 'NotifySubscriberRequest') return this.#isRefused ? undefined : this.#client.next(type)
    // A new subscriber gets a push of its own besides.
    for (;;) {
      const pushed = await this.#client.next(type)
      // There a deregistration of one address of a batch removes all (docs/compatibility.md).
      if (this.asked.includes('deregisterInstance')) return pushed
      if (hostCount(pushed.body) === hostCount(JSON.parse(body) as Body)) return pushed
    }
  }

  async end(): Promise<void> {
    await Promise.all([this.#client.close(), this.#silent.close()])
  }

  async #asked(type: string): Promise<Spoken> {
    const isAsked = (): boolean => this.#silent.waiting.some((each) => each.type === type)
    await expect.poll(isAsked, { timeout: SILENCE_MS }).toBe(true)
    return this.#silent.next(type)
  }
}

function hostCount({ serviceInfo }: Body): number {
  return (serviceInfo as { readonly hosts: readonly unknown[] }).hosts.length
}
