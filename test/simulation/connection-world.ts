import { address } from '../../src/core/core.test-support.ts'
import { addressText } from '../../src/core/naming/state/instance.ts'
import type { PublishedInstance } from '../../src/core/naming/commands/replace-instances.ts'
import { type ConnectedClient, type Connection, ConnectionCheck } from './connection-check.ts'
import { HttpPublishers } from './http-publishers.ts'
import { JudgingWorld, LEASE_MS } from './judging-world.ts'
import { serviceKeyOf } from './known-values.ts'
import type { Planted } from './planted-faults.ts'
import { KEPT_MS } from './simulated-server.ts'

/** A client notices after this time that its server does not answer, ms. */
const NOTICE_MS = 1_500
/** A client that has lost its connection connects again after this time, ms. */
const CONNECT_MS = 1_000
/** A client that was refused asks again after this time, ms. */
const AGAIN_MS = 1_000
/** A client that is not answered for so long takes another server, ms. */
const PATIENCE_MS = 3_000

/** How many clients there are at most, and how many addresses each may have: neighbours share some addresses. */
const MOST_CLIENTS = 4
const PORTS_EACH = 3

/**
 * Three servers, and clients that publish instances over connections. An instance of a live connection stays while its
 * server is a member, and comes back if it was removed; those of closed ones go at once; those of a server that is gone
 * stay for a while.
 */
export class ConnectionWorld extends JudgingWorld {
  readonly #clients: ConnectedClient[] = []
  readonly #check: ConnectionCheck
  /** Clients of HTTP at the same addresses. */
  readonly http: HttpPublishers
  /** Connections that their clients have left, as their servers find out when they are awake. */
  #ended: Connection[] = []
  #connections = 0

  constructor(planted: Planted) {
    super(planted, { isUnchecked: true })
    this.http = new HttpPublishers(this.world)
    this.#check = new ConnectionCheck(this.world, this.#clients, this.http)
  }

  /** A client comes, and wants some addresses. */
  open(service: string, chosen: readonly number[]): void {
    const taken = new Set(this.#clients.filter(({ isClosed }) => !isClosed).map(({ index }) => index))
    const index = Array.from({ length: MOST_CLIENTS }, (_, one) => one).find((one) => !taken.has(one))
    if (index === undefined) return
    const client: ConnectedClient = {
      service,
      index,
      wanted: new Map(),
      version: 0,
      acknowledged: 0,
      connection: undefined,
      actsAtMs: 0,
      isClosed: false,
    }
    this.#clients.push(client)
    this.want(this.#clients.length - 1, chosen)
  }

  /** A client wants other addresses. */
  want(dice: number, chosen: readonly number[]): void {
    const client = this.#pick(dice)
    if (client === undefined) return
    client.wanted = new Map(chosen.map((port) => wantedAt(client.index + (port % PORTS_EACH))))
    client.version++
    this.world.note(`c${client.index} wants ${[...client.wanted.keys()].join(' ')}`)
    if (client.connection !== undefined) this.#publish(client, client.connection)
  }

  /** A client closes its connection in order, and does not come back. */
  close(dice: number): void {
    const client = this.#pick(dice)
    if (client === undefined) return
    this.world.note(`c${client.index} closes`)
    client.isClosed = true
    this.#leave(client)
  }

  /** The network between a client and its server breaks: the client connects again. */
  disconnect(dice: number): void {
    const client = this.#pick(dice)
    if (client?.connection === undefined) return
    this.world.note(`c${client.index} is disconnected`)
    this.#leave(client)
    client.actsAtMs = this.world.nowMs + CONNECT_MS
  }

  /** A server sends a client to another one: it connects again. */
  move(dice: number): void {
    const client = this.#pick(dice)
    const connection = client?.connection
    if (connection === undefined || connection.server.server.isFrozen || !this.#isRunning(connection)) return
    this.world.note(`c${client!.index} is moved`)
    client!.connection = undefined
    client!.acknowledged = 0
    client!.actsAtMs = this.world.nowMs + CONNECT_MS
    this.#check.moved(connection)
    connection.server.connections.release(connection.id, { comesBack: true })
  }

  /** Everything works again until every client has what it wants, and nothing else is there. */
  async end(): Promise<void> {
    await this.recover(2 * (LEASE_MS + KEPT_MS) + 10_000)
    this.#check.atEnd(this.running())
    this.world.checkEqual()
  }

  protected act(preferred: number): void {
    this.#check.lookAtEnded(this.running())
    for (const connection of this.#takeEnded()) this.#release(connection)
    for (const client of this.#clients) if (!client.isClosed) this.#actOf(client, preferred)
    this.http.act(this.reachable(preferred))
  }

  protected override written(): void {
    this.#check.look()
  }

  #actOf(client: ConnectedClient, preferred: number): void {
    const { nowMs } = this.world
    const { connection } = client
    if (connection === undefined) {
      if (nowMs >= client.actsAtMs) this.#connect(client, preferred)
      return
    }
    if (!this.#isRunning(connection)) return this.#lose(client)
    if (!connection.server.server.isFrozen) connection.heardMs = nowMs
    const isSilent = nowMs - connection.heardMs >= NOTICE_MS
    if (isSilent || nowMs - connection.waitsSinceMs >= PATIENCE_MS) return this.#lose(client)
    const isAnswered = connection.waitsSinceMs === Infinity
    if (isAnswered && client.acknowledged !== client.version && nowMs >= client.actsAtMs)
      this.#publish(client, connection)
  }

  #lose(client: ConnectedClient): void {
    this.world.note(`c${client.index} loses its server`)
    this.#leave(client)
    client.actsAtMs = this.world.nowMs + CONNECT_MS
  }

  #connect(client: ConnectedClient, preferred: number): void {
    const [server] = this.reachable(preferred)
    if (server === undefined) return
    const id = `${++this.#connections}`
    const steady = new Set<string>()
    const { nowMs: heardMs } = this.world
    client.connection = { id, client, server, heardMs, asked: 0, waitsSinceMs: Infinity, steady }
    this.#check.connected(client.connection)
    this.world.note(`c${client.index} connects to ${server.server.name} as ${id}`)
    this.#publish(client, client.connection)
  }

  #publish(client: ConnectedClient, connection: Connection): void {
    const { version } = client
    const { nowMs } = this.world
    if (connection.server.server.isFrozen) return
    connection.asked = version
    connection.waitsSinceMs = nowMs
    connection.steady = new Set()
    const answered = (isDone: boolean): void => {
      if (client.connection !== connection || connection.asked !== version) return
      connection.waitsSinceMs = Infinity
      if (isDone) {
        client.acknowledged = version
        connection.steady = new Set(client.wanted.keys())
      } else client.actsAtMs = this.world.nowMs + AGAIN_MS
    }
    const request = {
      serviceKey: serviceKeyOf(client.service),
      connectionId: connection.id,
      instances: [...client.wanted.values()],
    }
    const publish = async (): Promise<unknown> => connection.server.connections.publish(request)
    publish().then(
      () => answered(true),
      () => answered(false),
    )
  }

  #leave(client: ConnectedClient): void {
    const { connection } = client
    client.connection = undefined
    client.acknowledged = 0
    if (connection === undefined) return
    if (connection.server.server.isFrozen) this.#ended.push(connection)
    else if (this.#isRunning(connection)) this.#release(connection)
  }

  #release(connection: Connection): void {
    this.#check.released(connection)
    connection.server.connections.release(connection.id, { comesBack: false })
  }

  /** The connections that have ended at servers that notice it now. */
  #takeEnded(): Connection[] {
    const noticed = this.#ended.filter(({ server }) => !server.server.isFrozen)
    this.#ended = this.#ended.filter(({ server }) => server.server.isFrozen)
    return noticed.filter((connection) => this.#isRunning(connection))
  }

  #isRunning({ server }: Connection): boolean {
    return this.running().includes(server)
  }

  #pick(dice: number): ConnectedClient | undefined {
    const open = this.#clients.filter(({ isClosed }) => !isClosed)
    return open[dice % Math.max(open.length, 1)]
  }
}

function wantedAt(port: number): readonly [string, PublishedInstance] {
  const where = address({ port: port + 1 })
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
  return [addressText(where), { address: where, ...rest }]
}
