import { setTimeout as sleep } from 'node:timers/promises'
import { between, randomFrom } from '../../random.ts'
import { ask } from './ask.ts'
import type { ClientParts } from './clients.ts'
import { CONNECTED } from './connected.ts'
import type { ListOfService, Recording } from './recording.ts'

/** The service whose instances beat without an end. */
export const STEADY = 'steady'
const BEAT_MS = 1_000
/** After so many ms without a beat an instance is unhealthy, and after so many it is removed. */
export const UNHEALTHY_MS = 5_000
export const REMOVE_MS = 8_000

const TIMES = JSON.stringify({
  'preserved.heart.beat.timeout': String(UNHEALTHY_MS),
  'preserved.ip.delete.timeout': String(REMOVE_MS),
})
/** A beat that is not answered so soon is sent to another server. */
const BEAT_LIMIT_MS = 2_000
const RETRY_MS = 50

/** One instance with the moments at which its beats were acknowledged: `[begun, ended]`. */
export interface Beating {
  readonly address: string
  readonly heard: [number, number][]
}

/** Registers an instance, then sends each beat to a random server until one has heard it. */
export class BeatingInstance implements Beating {
  readonly address: string
  readonly heard: [number, number][] = []
  readonly #parts: ClientParts
  readonly #query: { serviceName: string; ip: string; port: number }
  #isSilent = false
  #count = 0

  constructor(parts: ClientParts, { serviceName, port }: { serviceName: string; port: number }) {
    this.#parts = parts
    this.#query = { serviceName, ip: '127.0.3.1', port }
    this.address = `127.0.3.1:${port}`
  }

  /** Resolves when it is registered. */
  async register(): Promise<void> {
    const { urls } = this.#parts
    const query = { ...this.#query, metadata: TIMES }
    for (let server = this.#parts.home; ; server = (server + 1) % urls.length) {
      const begunMs = performance.now()
      const request = { method: 'POST', path: '/svc/v1/ns/instance', query }
      const reply = await ask(urls[server]!, request)
      if (reply.kind === 'answered' && reply.status === 200)
        return void this.heard.push([begunMs, performance.now()])
      await sleep(RETRY_MS)
    }
  }

  /** Never beats again. */
  fallSilent(): void {
    this.#isSilent = true
  }

  async run(): Promise<void> {
    const { isStopped, random, urls } = this.#parts
    while (!isStopped() && !this.#isSilent) {
      let server = between(random, 0, urls.length - 1)
      while (!(await this.#beat(server)) && !isStopped()) {
        server = (server + 1) % urls.length
        await sleep(RETRY_MS)
      }
      await sleep(BEAT_MS)
    }
  }

  async #beat(server: number): Promise<boolean> {
    const { urls, recording, name } = this.#parts
    const beat = JSON.stringify({
      ...this.#query,
      cluster: 'DEFAULT',
      scheduled: true,
      weight: 1,
      metadata: JSON.parse(TIMES),
    })
    const begunMs = performance.now()
    const request = { method: 'PUT', path: '/svc/v1/ns/instance/beat', limitMs: BEAT_LIMIT_MS }
    const reply = await ask(urls[server]!, { ...request, query: { ...this.#query, beat } })
    const endedMs = performance.now()
    const isHeard = reply.kind === 'answered' && reply.status === 200
    if (isHeard) this.heard.push([begunMs, endedMs])
    recording.operations.push({
      id: `${name}.${this.address}.${++this.#count}`,
      client: name,
      server,
      kind: 'beat',
      key: this.address,
      outcome: isHeard ? 'ok' : reply.kind === 'lost' ? 'unknown' : 'refused',
      begunMs,
      endedMs,
      ...(isHeard || reply.kind !== 'answered'
        ? {}
        : { said: `${reply.status} ${reply.text.slice(0, 200)}` }),
    })
    return isHeard
  }
}

/** A server that is looked at. */
interface WatchedServer {
  readonly url: string
  readonly server: number
}

/** Lists the instances that must be there and asks for the readiness of one server, ten times a second. */
export async function watchServer(
  watched: WatchedServer,
  recording: Recording,
  isStopped: () => boolean,
): Promise<void> {
  const { url, server } = watched
  const random = randomFrom(server)
  while (!isStopped()) {
    const [steady, connected] = [await listOf(watched, STEADY), await listOf(watched, CONNECTED)]
    if (steady !== undefined) recording.lists.push(steady)
    if (connected !== undefined) recording.connected.push(connected)
    const askedMs = performance.now()
    const ready = await ask(url, { method: 'GET', path: '/readyz', limitMs: 3_000 })
    const { status, text } = ready.kind === 'answered' ? ready : { status: 0, text: ready.kind }
    recording.readiness.push({ server, status, text, begunMs: askedMs, endedMs: performance.now() })
    await sleep(between(random, 80, 120))
  }
}

/** The list of a server; undefined: it does not answer, or not with a list. */
async function listOf(
  { url, server }: WatchedServer,
  serviceName: string,
): Promise<ListOfService | undefined> {
  const begunMs = performance.now()
  const request = { method: 'GET', path: '/svc/v1/ns/instance/list', query: { serviceName } }
  const reply = await ask(url, request)
  if (reply.kind !== 'answered' || reply.status !== 200) return undefined
  const { hosts } = JSON.parse(reply.text) as { hosts: { ip: string; port: number; healthy: boolean }[] }
  const healthy = hosts.map((host) => [`${host.ip}:${host.port}`, host.healthy] as const)
  return { server, begunMs, endedMs: performance.now(), hosts: new Map(healthy) }
}
