import { setTimeout as sleep } from 'node:timers/promises'
import { md5 } from '../../../interface/client.ts'
import { between, type Random } from '../../random.ts'
import { ask, type Reply } from './ask.ts'
import type { Kind, Operation, Outcome, Recording } from './recording.ts'

/** The dependencies of a client. */
export interface ClientParts {
  readonly name: string
  /** The addresses of the servers. */
  readonly urls: readonly string[]
  /** Where each takes connections of gRPC. */
  readonly grpcPorts: readonly number[]
  /** The server that it prefers. */
  readonly home: number
  readonly random: Random
  readonly recording: Recording
  /** Whether it does nothing for a while. */
  readonly isPaused: () => boolean
  readonly isStopped: () => boolean
}

const PAUSE_LOOK_MS = 20
/** The pause between two requests, and after one that failed. */
const BETWEEN_MS = [30, 150] as const
const AFTER_FAILURE_MS = 200

/** The request. */
type Asked = Pick<Operation, 'kind' | 'key' | 'value' | 'expected'>

/** A client that waits for each answer and records it. */
export class RecordedClient {
  readonly parts: ClientParts
  #count = 0

  constructor(parts: ClientParts) {
    this.parts = parts
  }

  nextId(): string {
    return `${this.parts.name}.${++this.#count}`
  }

  /** Runs turns until it is stopped. */
  async run(turn: () => Promise<Operation | undefined>): Promise<void> {
    const { isPaused, isStopped, random } = this.parts
    while (!isStopped()) {
      if (isPaused()) {
        await sleep(PAUSE_LOOK_MS)
        continue
      }
      const done = await turn()
      const failed = done !== undefined && (done.outcome === 'refused' || done.outcome === 'unknown')
      await sleep(failed ? AFTER_FAILURE_MS : between(random, ...BETWEEN_MS))
    }
  }

  /** Asks a server and records the outcome. */
  async ask(about: Asked & { id?: string; server: number }, request: HttpRequest): Promise<Operation> {
    const { urls, recording, name } = this.parts
    const begunMs = performance.now()
    const reply = await ask(urls[about.server]!, request)
    const outcome = outcomeOf(reply, about.kind)
    const operation: Operation = {
      id: about.id ?? this.nextId(),
      client: name,
      ...about,
      outcome,
      ...(about.kind === 'read' ? { seen: seenIn(reply) } : {}),
      begunMs,
      endedMs: performance.now(),
      ...(outcome === 'ok' ? {} : { said: saidIn(reply) }),
    }
    recording.operations.push(operation)
    return operation
  }
}

type HttpRequest = Parameters<typeof ask>[1]

const UNKNOWN_RESULT = /whether the change was made is not known|the server is stopping/

function outcomeOf(reply: Reply, kind: Kind): Outcome {
  if (reply.kind !== 'answered') return reply.kind === 'refused' ? 'refused' : 'unknown'
  const { status, text } = reply
  if (status === 200) return 'ok'
  if (kind === 'read' && status === 404) return 'ok'
  if (kind === 'compare-and-set' && status === 409) return 'changed'
  if ((kind === 'promote' || kind === 'stop') && status === 404) return 'changed'
  return UNKNOWN_RESULT.test(text) ? 'unknown' : 'refused'
}

function seenIn(reply: Reply): string | undefined {
  return reply.kind === 'answered' && reply.status === 200 ? reply.text : undefined
}

function saidIn(reply: Reply): string {
  return reply.kind === 'answered' ? `${reply.status} ${reply.text.slice(0, 200)}` : reply.kind
}

/** Where items are published, read and deleted. */
export const PATH_OF_ITEMS = '/svc/v1/cs/configs'

/** Publishes, compares and sets, deletes and reads some items at its server. Each content is new. */
export async function configClient(client: RecordedClient, items: readonly string[]): Promise<void> {
  const { random, home } = client.parts
  const seen = new Map<string, string | undefined>()
  await client.run(async () => {
    const key = items[between(random, 0, items.length - 1)]!
    const id = client.nextId()
    const query = { dataId: key, group: 'G', src_user: id }
    const about = { id, server: home, key }
    const choice = random()
    if (choice < 0.45) {
      const read = await client.ask({ ...about, kind: 'read' }, { method: 'GET', path: PATH_OF_ITEMS, query })
      if (read.outcome === 'ok') seen.set(key, read.seen)
      return read
    }
    if (choice < 0.5)
      return client.ask({ ...about, kind: 'delete' }, { method: 'DELETE', path: PATH_OF_ITEMS, query })
    const published = { ...query, content: id }
    if (choice < 0.75)
      return client.ask(
        { ...about, kind: 'publish', value: id },
        { method: 'POST', path: PATH_OF_ITEMS, query: published },
      )
    const expected = seen.get(key)
    const casMd5 = expected === undefined ? '' : md5(expected)
    const request = { method: 'POST', path: PATH_OF_ITEMS, query: { ...published, casMd5 } }
    return client.ask({ ...about, kind: 'compare-and-set', value: id, expected }, request)
  })
}

/** Reads items at its server. It never waits for a change, so it shows for how long nothing can be read. */
export async function readingClient(client: RecordedClient, items: readonly string[]): Promise<void> {
  const { random, home } = client.parts
  await client.run(async () => {
    const key = items[between(random, 0, items.length - 1)]!
    const request = { method: 'GET', path: PATH_OF_ITEMS, query: { dataId: key, group: 'G' } }
    return client.ask({ server: home, key, kind: 'read' }, request)
  })
}

/** Reads an item at its server and replaces what it has read at once, against others that do the same elsewhere. */
export async function contendingClient(client: RecordedClient, key: string): Promise<void> {
  const { home } = client.parts
  await client.run(async () => {
    const about = { server: home, key }
    const query = { dataId: key, group: 'G' }
    const read = await client.ask({ ...about, kind: 'read' }, { method: 'GET', path: PATH_OF_ITEMS, query })
    if (read.outcome !== 'ok') return read
    const [id, expected] = [client.nextId(), read.seen]
    const casMd5 = expected === undefined ? '' : md5(expected)
    const request = {
      method: 'POST',
      path: PATH_OF_ITEMS,
      query: { ...query, src_user: id, content: id, casMd5 },
    }
    return client.ask({ ...about, id, kind: 'compare-and-set', value: id, expected }, request)
  })
}

/** The service whose instances come, change and go. */
export const CHANGING = 'changing'

/** Registers its own instances again and again with rising weights, and deregisters them: at its server, or at any. */
export async function instanceClient(client: RecordedClient, ip: string): Promise<void> {
  const { random, home, urls } = client.parts
  let count = 0
  await client.run(async () => {
    const port = between(random, 1, 3)
    const server = random() < 0.5 ? home : between(random, 0, urls.length - 1)
    const key = `${ip}:${port}`
    const address = { serviceName: CHANGING, ip, port }
    const path = '/svc/v1/ns/instance'
    if (random() < 0.25)
      return client.ask({ server, key, kind: 'deregister' }, { method: 'DELETE', path, query: address })
    const weight = ++count / 10
    // They must not expire while the client is busy with others.
    const query = { ...address, weight, metadata: LONG_TIMES }
    return client.ask(
      { server, key, kind: 'register', value: String(weight) },
      { method: 'POST', path, query },
    )
  })
}

const LONG_TIMES = '{"preserved.heart.beat.timeout":"3600000","preserved.ip.delete.timeout":"3600000"}'

/** Lists the changing instances at its server. Each list is recorded as what it saw of one instance of `keys`, of all. */
export async function listClient(client: RecordedClient, keys: readonly string[]): Promise<void> {
  const { home, urls, recording, name } = client.parts
  await client.run(async () => {
    const begunMs = performance.now()
    const query = { serviceName: CHANGING }
    const reply = await ask(urls[home]!, { method: 'GET', path: '/svc/v1/ns/instance/list', query })
    const outcome = outcomeOf(reply, 'list')
    const weights = outcome === 'ok' ? weightsIn(reply) : new Map<string, string>()
    const about = { client: name, server: home, kind: 'list' as const, outcome, begunMs }
    const each = keys.map((key) => {
      return { ...about, id: client.nextId(), key, seen: weights.get(key), endedMs: performance.now() }
    })
    recording.operations.push(...each)
    return each[0]
  })
}

function weightsIn(reply: Reply): Map<string, string> {
  if (reply.kind !== 'answered') return new Map()
  const { hosts } = JSON.parse(reply.text) as { hosts: { ip: string; port: number; weight: number }[] }
  return new Map(hosts.map(({ ip, port, weight }) => [`${ip}:${port}`, String(weight)]))
}
