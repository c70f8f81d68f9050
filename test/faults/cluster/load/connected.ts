import { setTimeout as sleep } from 'node:timers/promises'
import { md5 } from '../../../interface/client.ts'
import type { Body } from '../../../support/grpc-client.ts'
import { between } from '../../random.ts'
import type { ClientParts } from './clients.ts'
import { TAG, taggedKey } from './gray-clients.ts'
import { connect, type Connected, keepConnection } from './kept-connection.ts'

/** The service of the instances that connections publish. */
export const CONNECTED = 'connected'
/** How long a passing client stays, and how long the next one waits. */
const STAY_MS = [200, 1_500] as const
const AWAY_MS = [100, 500] as const
const PAUSE_LOOK_MS = 20
const IP = '127.0.5.1'
/** Passing instances have ports above it. */
const FIRST_PASSING = 1_000

/** An instance that its client keeps registered, over one connection after the other. */
export interface KeptInstance {
  readonly address: string
  /** When it was registered for the first time; undefined: not yet. */
  readonly sinceMs: number | undefined
}

/** An instance whose client has closed its connection in order. */
export interface ClosedInstance {
  readonly address: string
  readonly server: number
  readonly closedMs: number
}

/** Registers an instance at its server, and at the next one when its connection is lost. */
export class ConnectedInstance implements KeptInstance {
  readonly address: string
  readonly #port: number
  readonly #parts: ClientParts
  sinceMs: number | undefined

  constructor(parts: ClientParts, port: number) {
    this.#parts = parts
    this.#port = port
    this.address = `${IP}:${port}`
  }

  run(): Promise<void> {
    const begin = async ({ ask }: Connected): Promise<void> => {
      await ask('InstanceRequest', registration(this.#port))
      this.sinceMs ??= performance.now()
    }
    return keepConnection(this.#parts, { module: 'naming', begin })
  }
}

/** Subscribes to the service of the connected instances, and remembers the last list that was pushed or answered. */
export class ConnectedSubscriber {
  readonly name: string
  readonly #parts: ClientParts
  /** The addresses of the last list; undefined: there is none yet. */
  addresses: readonly string[] | undefined

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.name = parts.name
  }

  run(): Promise<void> {
    return keepConnection(this.#parts, {
      module: 'naming',
      begin: async ({ ask }) => {
        const answer = await ask('SubscribeServiceRequest', { ...SERVICE, subscribe: true, clusters: '' })
        this.#received(answer)
      },
      asked: ({ type, body }) => {
        if (type === 'NotifySubscriberRequest') this.#received(body)
      },
    })
  }

  #received({ serviceInfo }: Body): void {
    const { hosts } = serviceInfo as { hosts: { ip: string; port: number }[] }
    this.addresses = hosts.map(({ ip, port }) => `${ip}:${port}`).sort()
  }
}

/** Listens to an item over a connection: after each push it asks for the item, as the libraries do. */
export class ConnectedListener {
  /** The item, or what clients with the tag see of it. */
  readonly item: string
  readonly #dataId: string
  readonly #labels: Readonly<Record<string, string>>
  readonly #parts: ClientParts
  #connected: Connected | undefined
  #count = 0
  /** What it has; undefined: nothing. */
  value: string | undefined

  constructor(parts: ClientParts, dataId: string, { hasTag = false } = {}) {
    this.#parts = parts
    this.#dataId = dataId
    this.item = hasTag ? taggedKey(dataId) : dataId
    this.#labels = hasTag ? { 'app_Vipserver-Tag': TAG } : {}
  }

  run(): Promise<void> {
    return keepConnection(this.#parts, {
      module: 'config',
      labels: this.#labels,
      begin: async (connected) => {
        this.#connected = connected
        await this.#listen(connected)
      },
      asked: ({ type }) => {
        const connected = this.#connected
        if (type === 'ConfigChangeNotifyRequest' && connected !== undefined)
          this.#catchUp(connected).catch(() => connected.grpc.session.destroy())
      },
    })
  }

  async #listen(connected: Connected): Promise<void> {
    const known = this.value === undefined ? '' : md5(this.value)
    const { changedConfigs } = await connected.ask('ConfigBatchListenRequest', {
      listen: true,
      configListenContexts: [{ dataId: this.#dataId, group: 'G', tenant: '', md5: known }],
    })
    if ((changedConfigs as unknown[]).length > 0) await this.#catchUp(connected)
  }

  async #catchUp(connected: Connected): Promise<void> {
    const begunMs = performance.now()
    const query = { dataId: this.#dataId, group: 'G', tenant: '' }
    const { type, body } = await connected.grpc.ask('ConfigQueryRequest', query)
    // A server that stops says 300 too, in an answer of another type.
    const isAnswered = body['resultCode'] === 200 || body['errorCode'] === 300
    if (type !== 'ConfigQueryResponse' || !isAnswered) throw new Error(JSON.stringify(body))
    this.value = body['content'] as string | undefined
    const { name, recording } = this.#parts
    recording.operations.push({
      id: `${name}.${++this.#count}`,
      client: name,
      server: connected.server,
      kind: 'read',
      key: this.item,
      outcome: 'ok',
      seen: this.value,
      begunMs,
      endedMs: performance.now(),
    })
    await this.#listen(connected)
  }
}

/** One client after the other connects to any server, registers an instance, stays for a while and closes its connection. */
export class PassingClients {
  readonly closed: ClosedInstance[] = []
  readonly #parts: ClientParts
  readonly #busy: { count: number }
  #port: number

  /** `lane`: no two have the same; they have ports of their own. */
  constructor(parts: ClientParts, lane: number, busy: { count: number }) {
    this.#parts = parts
    this.#busy = busy
    this.#port = FIRST_PASSING + lane * 10_000
  }

  async run(): Promise<void> {
    const { isStopped, isPaused, random } = this.#parts
    while (!isStopped()) {
      if (isPaused()) await sleep(PAUSE_LOOK_MS)
      else {
        this.#busy.count++
        await this.#one().finally(() => this.#busy.count--)
        await sleep(between(random, ...AWAY_MS))
      }
    }
  }

  async #one(): Promise<void> {
    const { urls, random } = this.#parts
    const server = between(random, 0, urls.length - 1)
    const port = ++this.#port
    const client = await connect(this.#parts, server, { module: 'naming' }).catch(() => undefined)
    if (client === undefined) return
    const isKnown = await client.ask('InstanceRequest', registration(port)).then(
      () => true,
      () => false,
    )
    await Promise.race([sleep(between(random, ...STAY_MS)), client.grpc.ended])
    const isOpen = !client.grpc.session.destroyed
    await client.grpc.close()
    if (isKnown && isOpen) this.closed.push({ address: `${IP}:${port}`, server, closedMs: performance.now() })
  }
}

const SERVICE = { namespace: '', serviceName: CONNECTED, groupName: 'DEFAULT_GROUP' }

function registration(port: number): Body {
  const instance = { ip: IP, port, weight: 1, healthy: true, enabled: true, ephemeral: true, metadata: {} }
  return { ...SERVICE, type: 'registerInstance', instance: { ...instance, clusterName: 'DEFAULT' } }
}
