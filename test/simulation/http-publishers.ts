import { address } from '../../src/core/core.test-support.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { connectionOf } from '../../src/core/naming/state/connection-publisher.ts'
import { hasRoom, publishersOf } from '../../src/core/naming/state/claims.ts'
import {
  addressText,
  type InstanceAddress,
  type InstanceRecord,
} from '../../src/core/naming/state/instance.ts'
import type { JudgingServer } from './judging-server.ts'
import { serviceKeyOf } from './known-values.ts'
import { violation } from './violation.ts'
import type { World } from './world.ts'

/** Times are shorter than in the product, in the same order: a beat, unhealthy, removed. */
const BEAT_MS = 1_000
const REMOVE_MS = 8_000
const METADATA = {
  'preserved.heart.beat.timeout': '4000',
  'preserved.ip.delete.timeout': String(REMOVE_MS),
}
/** A client that is not answered for so long asks again, ms. */
const PATIENCE_MS = 2_000

/** A client of HTTP at an address: it registers and beats until it dies or deregisters. Connections publish the address, too. */
interface HttpPublisher {
  readonly service: string
  readonly place: InstanceAddress
  state: 'lives' | 'dead' | 'leaves' | 'left'
  /** When it beats next, or asks again. */
  actsAtMs: number
  /** When a server last knew its beat. */
  heardMs: number
  isRegistered: boolean
  /** Since this revision its registration or claim must be kept: it was acknowledged in time, and it has beaten since. */
  steadyFrom: number
  /** Since this revision nothing of it may be there; Infinity: a registration has arrived since. */
  leftAt: number
  /** Requests that were not answered, or refused: each may still arrive. */
  doubtful: number
}

/** The clients of HTTP of a simulation, at most one for each address: to a server they are all the same publisher. */
export class HttpPublishers {
  readonly #world: World
  readonly #all = new Map<string, HttpPublisher>()

  constructor(world: World) {
    this.#world = world
  }

  /** A client comes to an address, if no other one lives there. */
  come(service: string, port: number): void {
    const place = address({ port })
    const where = placeOf(service, place)
    const { doubtful = 0, state = 'left' } = this.#all.get(where) ?? {}
    if (state === 'lives' || state === 'leaves') return
    this.#world.note(`a client of HTTP comes to ${where}`)
    const times = { actsAtMs: 0, heardMs: -Infinity, steadyFrom: Infinity, leftAt: Infinity }
    this.#all.set(where, { service, place, state: 'lives', isRegistered: false, doubtful, ...times })
  }

  /** A client dies without a word, or begins to deregister. */
  end(dice: number, state: 'dead' | 'leaves'): void {
    const living = [...this.#all.values()].filter((one) => one.state === 'lives')
    const client = living[dice % living.length]
    if (client === undefined) return
    this.#world.note(`the client of HTTP at ${placeOf(client.service, client.place)} is ${state}`)
    Object.assign(client, { state, steadyFrom: Infinity, actsAtMs: 0 })
  }

  /** The work of the clients in a tick: `servers` are those that they try, in this order. */
  act(servers: readonly JudgingServer[]): void {
    for (const client of this.#all.values()) {
      const { nowMs } = this.#world
      // A claim may be dropped for this silence, and a beat makes no claim.
      if (nowMs - client.heardMs >= REMOVE_MS / 2) client.steadyFrom = Infinity
      if (client.actsAtMs > nowMs || servers[0] === undefined) continue
      if (client.state === 'leaves') this.#deregister(client, servers[0])
      else if (client.state === 'lives') this.#beatOrRegister(client, servers)
    }
  }

  /** The store has accepted a record in this revision; undefined: the place is empty. */
  noted(place: string, record: InstanceRecord | undefined, revision: number): void {
    const client = this.#all.get(place)
    if (client === undefined) return
    if (record === undefined && revision > client.steadyFrom)
      violation(`${place} is removed, though a client of HTTP publishes it too`)
    if (record !== undefined && !hasRoom(record)) client.steadyFrom = Infinity
  }

  /** Everything until this revision was noted. */
  look(records: ReadonlyMap<string, InstanceRecord>, revision: number): void {
    for (const [place, { state, doubtful, leftAt }] of this.#all)
      if (state === 'left' && doubtful === 0 && revision >= leftAt && isOfHttp(records.get(place)))
        violation(`${place} is there or claimed, though its client of HTTP has deregistered it`)
  }

  /** Everything has worked for long enough: what lives is there, and nothing else of HTTP. */
  atEnd({ server: { name, state: known } }: JudgingServer): void {
    for (const [place, { service, place: where, state }] of this.#all) {
      const record = known.instance(serviceKeyOf(service), where)?.record
      if (state === 'lives' && record === undefined) violation(`at the end ${name} lacks ${place}`)
      if (state !== 'lives' && isOfHttp(record))
        violation(`at the end ${name} has ${place}, whose client of HTTP is ${state}`)
    }
  }

  #beatOrRegister(client: HttpPublisher, servers: readonly JudgingServer[]): void {
    const { service, place, isRegistered } = client
    const { nowMs } = this.#world
    const beats = ({ server }: JudgingServer): boolean => server.beat(service, place).kind === 'renewed'
    if (!isRegistered || !servers.some(beats)) return this.#register(client, servers[0]!)
    client.heardMs = nowMs
    client.actsAtMs = nowMs + BEAT_MS
  }

  #register(client: HttpPublisher, { server }: JudgingServer): void {
    const { service, place } = client
    const untilMs = this.#world.nowMs + PATIENCE_MS
    Object.assign(client, { actsAtMs: untilMs, isRegistered: false, steadyFrom: Infinity })
    const command = registerInstance({
      serviceKey: serviceKeyOf(service),
      address: place,
      ephemeral: true,
      weight: 3,
      enabled: true,
      healthy: undefined,
      metadata: METADATA,
      app: '',
      isGone: (publisher) => server.liveness.processes.isGone(connectionOf(publisher)?.process ?? ''),
    })
    this.#ask(client, server.execute(command), (outcome) => {
      // The client left while this request was on its way: silence removes what it has made.
      if (client.state === 'left') client.leftAt = Infinity
      if (outcome === 'known') server.beat(service, place)
      const { nowMs, store } = this.#world
      if (nowMs >= untilMs || client.state !== 'lives') return
      Object.assign(client, { isRegistered: true, heardMs: nowMs, actsAtMs: nowMs + BEAT_MS })
      if (outcome === 'registered') client.steadyFrom = store.revision
    })
  }

  #deregister(client: HttpPublisher, { server }: JudgingServer): void {
    const { service, place } = client
    client.actsAtMs = this.#world.nowMs + PATIENCE_MS
    const target = { serviceKey: serviceKeyOf(service), address: place, ephemeral: undefined }
    this.#ask(client, server.execute(deregisterInstance(target, () => 'kept')), () => {
      if (client.state === 'leaves')
        Object.assign(client, { state: 'left', leftAt: this.#world.store.revision })
    })
  }

  #ask(client: HttpPublisher, asked: Promise<unknown>, answered: (outcome: unknown) => void): void {
    client.doubtful++
    asked.then(
      (outcome) => {
        client.doubtful--
        answered(outcome)
      },
      () => {},
    )
  }
}

function isOfHttp(record: InstanceRecord | undefined): boolean {
  return record !== undefined && publishersOf(record).some(({ kind }) => kind === 'beats')
}

function placeOf(service: string, place: InstanceAddress): string {
  return `${addressText(place)} in ${serviceKeyOf(service).groupedName}`
}
