import type { Change } from '../../src/core/changes.ts'
import { MEMBER, type MemberFacts } from '../../src/core/cluster/member-records.ts'
import { addressText, type InstanceAddress } from '../../src/core/naming/instance.ts'
import { recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import { JudgingServer } from './judging-server.ts'
import { serviceKeyOf } from './known-values.ts'
import { register } from './operations.ts'
import type { Planted } from './planted-faults.ts'
import { Questions } from './questions.ts'
import type { SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'
import { type Step, World } from './world.ts'

/** Times are shorter than in the product, in the same order: a beat, unhealthy, removed, the end of a lease. */
const TICK_MS = 500
const BEAT_MS = 1_000
const UNHEALTHY_MS = 4_000
const REMOVE_MS = 8_000
const LEASE_MS = 5_000
const CERTAIN_MS = LEASE_MS - 1_000
/** A client that is not answered for so long asks again, ms. */
const PATIENCE_MS = 2_000
/** After this time a commit that was not answered is given up by its server, ms. */
const COMMIT_MS = 2_000
const METADATA = {
  'preserved.heart.beat.timeout': String(UNHEALTHY_MS),
  'preserved.ip.delete.timeout': String(REMOVE_MS),
}

/** An instance: it registers, and beats until it dies. Where no server knows it, it registers again. */
interface Client {
  readonly service: string
  readonly place: InstanceAddress
  /** When it beats next, or tries to register again. */
  actsAtMs: number
  /** Whether it knows that it is registered. */
  isRegistered: boolean
  /**
   * Whether it must not be removed: its registration was acknowledged in time, and it has beaten since. One that was told late
   * was silent meanwhile, so a server may have judged it.
   */
  isSteady: boolean
  isDead: boolean
}

/** The lease of a server, as the store counts it. */
interface Lease {
  readonly process: string
  untilMs: number
}

/**
 * Three servers that judge silence together, and instances that beat at them, in ticks of virtual time. What beats at a
 * server that is a member and not frozen must not become unhealthy and must not be removed, whatever happens.
 */
export class SilenceWorld {
  readonly world: World
  readonly #planted: Planted
  readonly #questions = new Questions()
  readonly #judging = new Map<SimulatedServer, JudgingServer>()
  readonly #leases = new Map<string, Lease>()
  readonly #clients: Client[] = []
  /** When the oldest commit of a server was first seen on its way. */
  readonly #waitsSinceMs = new Map<SimulatedServer, number>()
  #processes = 0

  constructor(planted: Planted) {
    this.#planted = planted
    this.world = new World({ skewsMs: [0, 0, 0], mostChanges: 20 }, planted, {
      tickMs: TICK_MS,
      started: (server, index) => this.#started(server, index),
      changedByServer: (change) => this.#changed(change),
    })
    this.world.start()
  }

  /** The process at a place; undefined: none runs. */
  at(index: number): JudgingServer | undefined {
    const server = this.world.server(index)
    return server && this.#judging.get(server)
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
      isSteady: false,
      isDead: false,
    }
    this.#clients.push(client)
    this.#tryToRegister(client, index)
  }

  /** An instance dies without a word. */
  die(dice: number): void {
    const alive = this.#clients.filter(({ isDead }) => !isDead)
    const client = alive[dice % alive.length]
    if (client === undefined) return
    this.world.note(`${addressText(client.place)} in ${client.service} dies`)
    client.isDead = true
  }

  /** A server that was cut off comes back too late to go on from its place in the feed: it reads everything. */
  reload(index: number): void {
    const judging = this.at(index)
    if (judging === undefined || judging.server.isFrozen || judging.server.access.lag === 0) return
    judging.isCut = false
    this.world.reload(index)
    judging.reloaded()
  }

  /** How long answers to questions take from now on. */
  set answersTakeMs(ms: number) {
    this.#questions.delayMs = ms
  }

  /** Time passes, and everything happens that is not held up. `preferred`: where instances beat if they can. */
  async pass(ticks: number, preferred: number): Promise<void> {
    this.world.note(`${ticks * TICK_MS} ms pass, beats at s${preferred % 3}`)
    for (let tick = 0; tick < ticks; tick++) {
      this.world.nowMs += TICK_MS
      this.#renew()
      await this.#exchange()
      this.#act(preferred)
      for (const server of this.#awake()) server.sweep()
      await this.#exchange()
    }
  }

  /** Everything works again for so long that every dead instance must be gone; what beats is there and healthy. */
  async end(): Promise<void> {
    this.answersTakeMs = 0
    for (const index of [0, 1, 2]) {
      this.world.restart(index)
      this.world.freeze(index, false)
      Object.assign(this.at(index)!, { isCut: false, isMute: false, isSlow: false })
    }
    const longestMs = 2 * REMOVE_MS + LEASE_MS + 3_000
    await this.pass(longestMs / TICK_MS, 1)
    await this.world.settle()
    for (const server of this.#running()) this.#checkKnown(server)
    this.world.check()
  }

  #checkKnown({ server, restored }: JudgingServer): void {
    if (restored > 0) violation(`${server.name} had to restore an instance`)
    for (const { service, place, isDead } of this.#clients) {
      const name = `${addressText(place)} in ${service}`
      const known = server.state.instance(serviceKeyOf(service), place)
      if (!isDead && known?.healthy !== true)
        violation(`${name} beats, but at the end ${server.name} does not list it as healthy`)
      if (isDead && known !== undefined && !this.#lives(service, place))
        violation(`${name} is dead, but at the end ${server.name} lists it`)
    }
  }

  #lives(service: string, place: InstanceAddress): boolean {
    return this.#clients.some(
      (client) => client.service === service && client.place === place && !client.isDead,
    )
  }

  #started(server: SimulatedServer, index: number): void {
    const judging = new JudgingServer({
      server,
      index,
      process: `process ${++this.#processes}`,
      nowMs: () => this.world.nowMs,
      heedsLease: this.#planted.heedsLease,
      ask: (from, member, places) => {
        if (!this.#planted.asks) return Promise.resolve(places.map(() => ({ kind: 'unknown' })))
        return this.#questions.ask(from, { member, places, askedMs: this.world.nowMs })
      },
    })
    this.#judging.set(server, judging)
  }

  /** Leases are renewed by those who can, and the store removes the members whose lease has ended. */
  #renew(): void {
    const { nowMs, store } = this.world
    for (const judging of this.#awake()) {
      if (judging.isCut) continue
      const { id, facts } = judging
      if (this.#leases.get(id)?.process !== facts.process)
        store.write([unit(recordSaved(MEMBER, { id, value: facts, stamp: 0 }))], Infinity)
      this.#leases.set(id, { process: facts.process, untilMs: nowMs + LEASE_MS })
      judging.certainUntilMs = nowMs + CERTAIN_MS
    }
    for (const [id, { untilMs }] of this.#leases) {
      if (untilMs > nowMs) continue
      this.world.note(`the lease of ${id} ends`)
      this.#leases.delete(id)
      store.write([unit(recordRemoved(MEMBER, id, 0))], Infinity)
    }
  }

  #act(preferred: number): void {
    for (const client of this.#clients) {
      if (client.isDead || client.actsAtMs > this.world.nowMs) continue
      const servers = this.#heardAt(preferred)
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
    this.world.ask(index, register(service, place, { metadata: METADATA }), (outcome) => {
      const isInTime = this.world.nowMs < untilMs
      if (!isInTime || (outcome !== 'registered' && outcome !== 'known')) return
      client.isRegistered = true
      client.isSteady = outcome === 'registered'
      client.actsAtMs = this.world.nowMs + BEAT_MS
    })
  }

  /** Where a beat is tried, in this order. Where no server is a member, the store is down for all, and they hear all the same. */
  #heardAt(preferred: number): JudgingServer[] {
    const awake = [0, 1, 2].flatMap((turn) => this.at((preferred + turn) % 3) ?? []).filter(isAwake)
    const members = awake.filter(({ isMember, isListed }) => isMember && isListed)
    return members.length > 0 ? members : awake
  }

  /** What a server changes by itself must not concern an instance that beats. */
  #changed(change: Change): void {
    if (change.kind === 'instance-saved') violation('a server had to restore an instance')
    if (change.kind !== 'instance-removed' && change.kind !== 'instance-health-changed') return
    const { serviceKey, address } = change
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

  /** Everything happens that can and is not held up, until nothing is left. */
  async #exchange(): Promise<void> {
    this.#giveUp()
    for (let round = 0; round < 100; round++) {
      this.#questions.deliver(this.world.nowMs, (member) => this.#find(member))
      await this.world.pause()
      const steps = this.world.possible().filter((step) => !this.#isHeldUp(step))
      if (steps.length === 0) return
      for (const { run } of steps) await run()
    }
    violation('a tick never ends')
  }

  #isHeldUp({ kind, server }: Step): boolean {
    const judging = server && this.#judging.get(server)
    if (judging === undefined || kind === 'turn') return false
    return judging.isCut || (judging.isSlow && kind === 'request')
  }

  /** A server gives up a commit that takes too long. It may arrive later all the same. */
  #giveUp(): void {
    for (const { server } of this.#running()) {
      if (server.access.underway === 0) this.#waitsSinceMs.delete(server)
      else {
        const sinceMs = this.#waitsSinceMs.get(server) ?? this.world.nowMs
        this.#waitsSinceMs.set(server, sinceMs)
        if (!server.isFrozen && this.world.nowMs - sinceMs >= COMMIT_MS) server.access.delay()
      }
    }
  }

  #find({ port }: MemberFacts): JudgingServer | undefined {
    return this.#running().find(({ facts }) => facts.port === port)
  }

  #running(): JudgingServer[] {
    return [0, 1, 2].flatMap((index) => this.at(index) ?? [])
  }

  #awake(): JudgingServer[] {
    return this.#running().filter(isAwake)
  }
}

function isAwake({ server }: JudgingServer): boolean {
  return !server.isFrozen
}

function unit(change: Change) {
  return { reads: [], changes: [change] }
}
