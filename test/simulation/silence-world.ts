import type { Change } from '../../src/core/decisions/changes.ts'
import { addressText, type InstanceAddress, isSameMetadata } from '../../src/core/naming/state/instance.ts'
import type { JudgingServer } from './judging-server.ts'
import { JudgingWorld, LEASE_MS } from './judging-world.ts'
import { serviceKeyOf } from './known-values.ts'
import { register } from './operations.ts'
import type { Planted } from './planted-faults.ts'
import { violation } from './violation.ts'

/** Times are shorter than in the product, in the same order: a beat, unhealthy, removed. */
const BEAT_MS = 1_000
const UNHEALTHY_MS = 4_000
const REMOVE_MS = 8_000
/** A client that is not answered for so long asks again, ms. */
const PATIENCE_MS = 2_000
const METADATA = {
  'preserved.heart.beat.timeout': String(UNHEALTHY_MS),
  'preserved.ip.delete.timeout': String(REMOVE_MS),
}

/**
 * An instance: it registers, and beats until it dies. Where no server knows it, it registers by a beat that says nothing else,
 * once it was registered.
 */
interface Client {
  readonly service: string
  readonly place: InstanceAddress
  /** When it beats next, or tries to register again. */
  actsAtMs: number
  /** Whether it knows that it is registered. */
  isRegistered: boolean
  /** Whether it ever knew that. */
  wasRegistered: boolean
  /**
   * Whether it must not be removed: its registration was acknowledged in time, and it has beaten since. One that was told late
   * was silent meanwhile, so a server may have judged it.
   */
  isSteady: boolean
  isDead: boolean
}

/**
 * Three servers that judge silence together, and instances that beat at them, in ticks of virtual time. What beats at a
 * server that is a member and not frozen must not become unhealthy and must not be removed, whatever happens.
 */
export class SilenceWorld extends JudgingWorld {
  readonly #clients: Client[] = []

  constructor(planted: Planted) {
    super(planted, { changedByServer: (change) => this.#changed(change) })
  }

  /** An instance registers at a server, and beats from then on. */
  register(index: number, service: string, place: InstanceAddress): void {
    const known = this.#clients.find((client) => client.service === service && client.place === place)
    if (known !== undefined && !known.isDead) return
    const server = this.world.server(index)
    if (server === undefined || server.isFrozen) return
    const client: Client = {
      service,
      place,
      actsAtMs: 0,
      isRegistered: false,
      wasRegistered: false,
      isSteady: false,
      isDead: false,
    }
    this.#clients.push(client)
    this.#tryToRegister(client, index)
  }

  /** An instance dies without a word. */
  die(dice: number): void {
    const client = this.#oneAlive(dice, 'dies')
    if (client !== undefined) client.isDead = true
  }

  /** An instance is silent for so long that it may be removed, and beats again. */
  fallSilent(dice: number): void {
    const client = this.#oneAlive(dice, 'falls silent')
    if (client !== undefined)
      Object.assign(client, { actsAtMs: this.world.nowMs + REMOVE_MS + 3_000, isSteady: false })
  }

  #oneAlive(dice: number, what: string): Client | undefined {
    const alive = this.#clients.filter(({ isDead }) => !isDead)
    const client = alive[dice % alive.length]
    if (client !== undefined) this.world.note(`${addressText(client.place)} in ${client.service} ${what}`)
    return client
  }

  /** Everything works again for so long that every dead instance must be gone; what beats is there and healthy. */
  async end(): Promise<void> {
    await this.recover(2 * REMOVE_MS + LEASE_MS + 3_000)
    for (const server of this.running()) this.#checkKnown(server)
    this.world.check()
  }

  #checkKnown({ server }: JudgingServer): void {
    for (const { service, place, isDead } of this.#clients) {
      const name = `${addressText(place)} in ${service}`
      const known = server.state.instance(serviceKeyOf(service), place)
      if (!isDead && known?.healthy !== true)
        violation(`${name} beats, but at the end ${server.name} does not list it as healthy`)
      if (!isDead && known !== undefined && !isSameMetadata(known.record.registered, METADATA))
        violation(`${name} beats, but at the end ${server.name} does not list it as it was registered`)
      if (isDead && known !== undefined && !this.#lives(service, place))
        violation(`${name} is dead, but at the end ${server.name} lists it`)
    }
  }

  #lives(service: string, place: InstanceAddress): boolean {
    return this.#clients.some(
      (client) => client.service === service && client.place === place && !client.isDead,
    )
  }

  protected act(preferred: number): void {
    for (const client of this.#clients) {
      if (client.isDead || client.actsAtMs > this.world.nowMs) continue
      const servers = this.reachable(preferred)
      const { service, place } = client
      const isHeard =
        client.isRegistered && servers.some(({ server }) => server.beat(service, place).kind === 'renewed')
      if (isHeard) client.actsAtMs = this.world.nowMs + BEAT_MS
      else if (servers[0] !== undefined) this.#tryToRegister(client, servers[0].index)
    }
  }

  #tryToRegister(client: Client, index: number): void {
    const { service, place } = client
    const untilMs = this.world.nowMs + PATIENCE_MS
    Object.assign(client, { actsAtMs: untilMs, isRegistered: false, isSteady: false })
    const said = client.wasRegistered ? { isBeat: true } : { metadata: METADATA }
    this.world.ask(index, register(service, place, said), (outcome) => {
      const isInTime = this.world.nowMs < untilMs
      if (!isInTime || (outcome !== 'registered' && outcome !== 'known')) return
      client.isRegistered = true
      client.wasRegistered = true
      client.isSteady = outcome === 'registered'
      client.actsAtMs = this.world.nowMs + BEAT_MS
    })
  }

  /**
   * Changes that a server makes by itself must not concern an instance that beats. An instance that was silent for long may beat at a
   * slow server just when the others remove it: that server restores it.
   */
  #changed(change: Change): void {
    if (
      change.kind !== 'instance-removed' &&
      change.kind !== 'instance-health-changed' &&
      change.kind !== 'instance-saved'
    )
      return
    const { serviceKey } = change
    const address = change.kind === 'instance-saved' ? change.record.address : change.address
    const client = this.#clients.find(
      ({ service, place, isDead, isSteady }) =>
        !isDead &&
        isSteady &&
        serviceKeyOf(service).groupedName === serviceKey.groupedName &&
        addressText(place) === addressText(address),
    )
    const isHealed = change.kind === 'instance-health-changed' && change.healthy
    if (client !== undefined && !isHealed)
      violation(`${addressText(address)} in ${client.service} beats, but: ${change.kind}`)
  }
}
