import type { Change } from '../../src/core/decisions/changes.ts'
import { MEMBER, type MemberFacts } from '../../src/core/cluster/members/member-records.ts'
import { recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import { JudgingServer } from './judging-server.ts'
import type { Planted } from './planted-faults.ts'
import { Questions } from './questions.ts'
import type { SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'
import { type Step, World, type WorldHooks } from './world.ts'

/** Times are shorter than in the product, in the same order. */
const TICK_MS = 500
export const LEASE_MS = 5_000
const CERTAIN_MS = LEASE_MS - 1_000
/** After this time a commit that was not answered is given up by its server, ms. */
const COMMIT_MS = 2_000

/** The lease of a server, as the store counts it. */
interface Lease {
  readonly process: string
  untilMs: number
}

/** Three servers that judge together, in ticks of virtual time. */
export abstract class JudgingWorld {
  readonly world: World
  readonly #planted: Planted
  readonly #questions = new Questions()
  readonly #judging = new Map<SimulatedServer, JudgingServer>()
  readonly #leases = new Map<string, Lease>()
  /** When the oldest commit of a server was first seen on its way. */
  readonly #waitsSinceMs = new Map<SimulatedServer, number>()

  constructor(planted: Planted, hooks: Omit<WorldHooks, 'tickMs' | 'started'>) {
    this.#planted = planted
    this.world = new World({ skewsMs: [0, 0, 0], mostChanges: 20 }, planted, {
      ...hooks,
      tickMs: TICK_MS,
      started: (server, index) => this.#started(server, index),
    })
    this.world.start()
  }

  /** The process at a place; undefined: none runs. */
  at(index: number): JudgingServer | undefined {
    const server = this.world.server(index)
    return server && this.#judging.get(server)
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

  /** Time passes, and everything happens that is not held up. `preferred`: the server that clients use if they can. */
  async pass(ticks: number, preferred: number): Promise<void> {
    this.world.note(`${ticks * TICK_MS} ms pass, clients prefer s${preferred % 3}`)
    for (let tick = 0; tick < ticks; tick++) {
      this.world.nowMs += TICK_MS
      this.#renew()
      await this.#exchange()
      this.act(preferred)
      for (const server of this.awake()) server.sweep()
      await this.#exchange()
    }
  }

  /** Everything works again, for so long. */
  protected async recover(ms: number): Promise<void> {
    this.answersTakeMs = 0
    for (const index of [0, 1, 2]) {
      this.world.restart(index)
      this.world.freeze(index, false)
      Object.assign(this.at(index)!, { isCut: false, isMute: false, isSlow: false })
    }
    await this.pass(ms / TICK_MS, 1)
    await this.world.settle()
  }

  /** The work of clients in a tick. */
  protected abstract act(preferred: number): void

  /** Called when something may have been written. */
  protected written(): void {}

  /**
   * The servers that a client tries, in this order. Where no server is a member, the store is down for all, and they answer
   * all the same.
   */
  protected reachable(preferred: number): JudgingServer[] {
    const awake = [0, 1, 2].flatMap((turn) => this.at((preferred + turn) % 3) ?? []).filter(isAwake)
    const members = awake.filter(({ isMember, isListed }) => isMember && isListed)
    return members.length > 0 ? members : awake
  }

  protected running(): JudgingServer[] {
    return [0, 1, 2].flatMap((index) => this.at(index) ?? [])
  }

  protected awake(): JudgingServer[] {
    return this.running().filter(isAwake)
  }

  #started(server: SimulatedServer, index: number): void {
    const judging = new JudgingServer({
      server,
      index,
      process: server.process,
      nowMs: () => this.world.nowMs,
      planted: this.#planted,
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
    for (const judging of this.awake()) {
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
    this.written()
  }

  /** Everything happens that can and is not held up, until nothing is left. */
  async #exchange(): Promise<void> {
    this.#giveUp()
    for (let round = 0; round < 100; round++) {
      this.#questions.deliver(this.world.nowMs, (member) => this.#find(member))
      await this.world.pause()
      this.written()
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
    for (const { server } of this.running()) {
      if (server.access.underway === 0) this.#waitsSinceMs.delete(server)
      else {
        const sinceMs = this.#waitsSinceMs.get(server) ?? this.world.nowMs
        this.#waitsSinceMs.set(server, sinceMs)
        if (!server.isFrozen && this.world.nowMs - sinceMs >= COMMIT_MS) server.access.delay()
      }
    }
  }

  #find({ port }: MemberFacts): JudgingServer | undefined {
    return this.running().find(({ facts }) => facts.port === port)
  }
}

function isAwake({ server }: JudgingServer): boolean {
  return !server.isFrozen
}

function unit(change: Change) {
  return { reads: [], changes: [change] }
}
