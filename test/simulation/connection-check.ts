import { type FedChange, savedValue } from '../../src/core/decisions/changes.ts'
import { MEMBER } from '../../src/core/cluster/members/member-records.ts'
import { connectionOf } from '../../src/core/naming/state/connection-publisher.ts'
import { addressText, type InstanceRecord } from '../../src/core/naming/state/instance.ts'
import { hasRoom, publishersOf } from '../../src/core/naming/state/claims.ts'
import type { PublishedInstance } from '../../src/core/naming/commands/replace-instances.ts'
import type { HttpPublishers } from './http-publishers.ts'
import type { JudgingServer } from './judging-server.ts'
import { serviceKeyOf } from './known-values.ts'
import { SERVICES } from './operations.ts'
import { KEPT_MS } from './simulated-server.ts'
import { violation } from './violation.ts'
import type { World } from './world.ts'

/** A connection of a client to a process. */
export interface Connection {
  readonly id: string
  readonly client: ConnectedClient
  readonly server: JudgingServer
  /** When the server last answered anything. */
  heardMs: number
  /** The number of the last set that it was asked to publish, and since when no answer has come; Infinity: it has come. */
  asked: number
  waitsSinceMs: number
  /** The addresses that were acknowledged last; empty while something else is asked for, or was refused. */
  steady: ReadonlySet<string>
}

/** A client with instances of its own: it keeps a connection, and publishes over it what it wants, until it is closed. */
export interface ConnectedClient {
  readonly service: string
  readonly index: number
  /** The addresses that it wants to have registered. */
  wanted: ReadonlyMap<string, PublishedInstance>
  /** Counts the sets that it wanted. */
  version: number
  /** The number of the set that was acknowledged over this connection; 0: none. */
  acknowledged: number
  connection: Connection | undefined
  /** When it connects, or asks again. */
  actsAtMs: number
  isClosed: boolean
}

/**
 * Checks what the store has accepted of instances of connections, change by change, and what all servers know at the end.
 * It knows which processes are members, and since when another one is none.
 */
export class ConnectionCheck {
  readonly #world: World
  readonly #clients: readonly ConnectedClient[]
  /** The record at each place that has one. */
  readonly #records = new Map<string, InstanceRecord>()
  /** The process of each member. */
  readonly #members = new Map<string, string>()
  /** Since when a process is a member. */
  readonly #memberMs = new Map<string, number>()
  /** When a process was no member any more. */
  readonly #goneMs = new Map<string, number>()
  readonly #connections = new Map<string, Connection>()
  readonly #released = new Set<Connection>()
  /** When its client was sent to another server. */
  readonly #movedMs = new Map<Connection, number>()
  /** Connections that were released at a server that could write: none of their instances may be left. */
  #ended: { readonly connection: Connection; readonly atMs: number }[] = []
  #looked = 0

  readonly #http: HttpPublishers

  constructor(world: World, clients: readonly ConnectedClient[], http: HttpPublishers) {
    this.#world = world
    this.#clients = clients
    this.#http = http
  }

  connected(connection: Connection): void {
    this.#connections.set(connection.id, connection)
  }

  /** A server notices that a connection has ended. */
  released(connection: Connection): void {
    this.#released.add(connection)
    if (canWrite(connection.server)) this.#ended.push({ connection, atMs: this.#world.nowMs })
  }

  /** A server sends the client of a connection away. */
  moved(connection: Connection): void {
    this.#movedMs.set(connection, this.#world.nowMs)
  }

  /** An instance that was released in an earlier tick is gone, unless its server could not write since. */
  lookAtEnded(running: readonly JudgingServer[]): void {
    const couldWrite = ({ server }: Connection): boolean => running.includes(server) && canWrite(server)
    this.#ended = this.#ended.filter(({ connection }) => couldWrite(connection))
    for (const { connection, atMs } of this.#ended) {
      if (atMs === this.#world.nowMs) continue
      const { id, client } = connection
      for (const [place, record] of this.#records)
        if (publishersOf(record).some((publisher) => connectionOf(publisher)?.connectionId === id))
          violation(`${place} is there or claimed, though c${client.index} has ended its connection`)
    }
    this.#ended = this.#ended.filter(({ atMs }) => atMs === this.#world.nowMs)
  }

  /** Looks at what was written since. */
  look(): void {
    for (; this.#looked < this.#world.store.revision; this.#looked++)
      for (const change of this.#world.store.fed(this.#looked + 1)?.changes ?? []) this.#note(change)
    this.#http.look(this.#records, this.#looked)
  }

  /**
   * Everything has worked for long enough: each address that clients want belongs to one of these clients. No instance and no
   * claim is of anybody else.
   */
  atEnd(servers: readonly JudgingServer[]): void {
    for (const judging of servers) {
      const { server } = judging
      this.#http.atEnd(judging)
      for (const service of SERVICES) {
        const clients = this.#clients.filter((client) => client.service === service && !client.isClosed)
        const left = new Set(clients.flatMap(({ wanted }) => [...wanted.keys()]))
        for (const { record } of server.state.instances(serviceKeyOf(service))) {
          const where = addressText(record.address)
          for (const publisher of publishersOf(record)) {
            if (publisher.kind === 'beats') continue
            const owner = connectionOf(publisher)?.connectionId
            const isWanted = clients.some(
              ({ wanted, connection }) => connection?.id === owner && wanted.has(where),
            )
            if (!isWanted) violation(`at the end ${server.name} has ${where} in ${service} by ${owner}`)
          }
          left.delete(where)
        }
        if (left.size > 0) violation(`at the end ${server.name} lacks ${[...left].join()} in ${service}`)
      }
    }
  }

  #note(change: FedChange): void {
    if (change.kind === 'instance-saved') {
      const place = placeOf(change.serviceKey.groupedName, addressText(change.record.address))
      this.#records.set(place, change.record)
      this.#http.noted(place, change.record, this.#looked + 1)
    } else if (change.kind === 'instance-removed') {
      const place = placeOf(change.serviceKey.groupedName, addressText(change.address))
      const record = this.#records.get(place)
      this.#records.delete(place)
      this.#http.noted(place, undefined, this.#looked + 1)
      if (record === undefined) return
      this.#removed(place, record)
      this.#expectNobody(place, record)
    } else this.#noteMember(change)
  }

  /** An address is not listed any more: nobody alive publishes it, whoever had it. */
  #expectNobody(place: string, record: InstanceRecord): void {
    if (!hasRoom(record)) return
    for (const { service, index, wanted, connection, isClosed } of this.#clients) {
      const where = addressText(record.address)
      if (isClosed || connection === undefined || !wanted.has(where) || !connection.steady.has(where))
        continue
      if (placeOf(serviceKeyOf(service).groupedName, where) !== place) continue
      const { process } = connection.server.facts
      const isMember = [...this.#members.values()].includes(process)
      const memberMs = this.#world.nowMs - (this.#memberMs.get(process) ?? 0)
      if (isMember && memberMs > REPAIRED_MS && !this.#released.has(connection))
        violation(`${place} is removed, though c${index} publishes it too`)
    }
  }

  #noteMember(change: FedChange): void {
    if (
      (change.kind !== 'record-saved' && change.kind !== 'record-removed') ||
      change.recordKind !== MEMBER.name
    )
      return
    const before = this.#members.get(change.id)
    const process = savedValue(MEMBER, change)?.process
    if (before !== undefined && before !== process) this.#goneMs.set(before, this.#world.nowMs)
    if (process === undefined) this.#members.delete(change.id)
    else {
      if (before !== process) this.#memberMs.set(process, this.#world.nowMs)
      this.#members.set(change.id, process)
      this.#goneMs.delete(process)
    }
  }

  /**
   * A wanted instance of a client leaves only when its connection has ended, or it was moved or its server was no member for a
   * while.
   */
  #removed(place: string, { publisher, address }: InstanceRecord): void {
    const owner = connectionOf(publisher)
    const connection = this.#connections.get(owner?.connectionId ?? '')
    if (connection === undefined || this.#released.has(connection)) return
    const { client, steady } = connection
    const where = addressText(address)
    if (!steady.has(where) || !client.wanted.has(where)) return
    const goneMs = Math.min(
      this.#movedMs.get(connection) ?? Infinity,
      this.#goneMs.get(owner?.process ?? '') ?? Infinity,
    )
    if (goneMs === Infinity) violation(`${place} of c${client.index} is removed, though its connection lives`)
    const keptMs = this.#world.nowMs - goneMs
    if (keptMs < KEPT_MS)
      violation(`${place} of c${client.index} is removed ${keptMs} ms after its server was gone`)
  }
}

/** A server that has just become a member again registers what was removed meanwhile, after this time at most, ms. */
const REPAIRED_MS = 5_000

function canWrite({ server, isMember, isCut, isSlow }: JudgingServer): boolean {
  return isMember && !isCut && !isSlow && !server.isFrozen
}

function placeOf(groupedName: string, where: string): string {
  return `${where} in ${groupedName}`
}
