import { microtasks } from '../../src/core/core.test-support.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import type { ModelAccess, RequestFault } from '../../src/core/engine/model-access.test-support.ts'
import { ModelStore } from '../../src/core/engine/model-store.test-support.ts'
import { addressText, type InstanceAddress } from '../../src/core/naming/state/instance.ts'
import { Calls } from './calls.ts'
import { checkEnd, checkEqualServers } from './end-checks.ts'
import { addUser, type Operation, promote, register } from './operations.ts'
import type { Planted } from './planted-faults.ts'
import { Reference } from './reference.ts'
import { SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'
import { Watcher } from './watcher.ts'

/** The differences between simulations, apart from their events. */
export interface Conditions {
  /** How far the wall clock of each server is from the right time, ms. There are as many servers. */
  readonly skewsMs: readonly number[]
  /** The most changes of a unit. */
  readonly mostChanges: number
}

/** The further parts of a simulation of more than requests. */
export interface WorldHooks {
  /** A process has started, and has loaded. */
  readonly started?: (server: SimulatedServer, index: number) => void
  /** Milliseconds between two sweeps of the health clock; Infinity: it follows the time. */
  readonly tickMs?: number
  /** True: commands of any kind, which the reference does not know. Only that servers end equal is checked. */
  readonly isUnchecked?: boolean
  /** Called with every change that a server made by itself, when the store has accepted it. */
  readonly changedByServer?: (change: Change) => void
}

/** Something that can happen now. */
export interface Step {
  readonly title: string
  /** A request arrives at the store, a turn of the event loop, or the next revision of the feed. */
  readonly kind: 'request' | 'turn' | 'feed'
  /** Undefined: a process that has died. */
  readonly server: SimulatedServer | undefined
  readonly run: () => void | Promise<void>
}

/** A server: its process, if one runs. */
interface Place {
  skewMs: number
  process: { readonly server: SimulatedServer; readonly watcher: Watcher | undefined } | undefined
}

/** After so many rounds something is never answered or never delivered. */
const MOST_ROUNDS = 300
/** A service that a registration made leaves when it has been empty for this time, ms. */
const EMPTY_MS = 60_000

/** Three servers on one store, their clients, and the network between them, in virtual time. */
export class World {
  readonly #conditions: Conditions
  readonly #planted: Planted
  readonly #reference = new Reference()
  readonly #calls: Calls
  readonly #hooks: WorldHooks
  readonly store: ModelStore
  readonly #places: readonly Place[]
  /** The access of dead servers to the store: their messages may still arrive. */
  readonly #ghosts: ModelAccess[] = []
  /** Everything that happened, for the report of a violation. */
  readonly trace: string[] = []
  nowMs = 0
  #failure: Error | undefined

  constructor(conditions: Conditions, planted: Planted, hooks: WorldHooks = {}) {
    this.#conditions = conditions
    this.#planted = planted
    this.#hooks = hooks
    this.#calls = new Calls(this.#reference, hooks.changedByServer)
    const { compares } = planted
    this.store = new ModelStore({
      compares,
      held: (unit, revision) => hooks.isUnchecked !== true && this.#calls.held(unit, revision),
    })
    this.#places = conditions.skewsMs.map((skewMs) => ({ skewMs, process: undefined }))
  }

  /** Starts all servers. */
  start(): void {
    for (const index of this.#places.keys()) this.restart(index)
  }

  /** Starts all servers, and makes two administrators. */
  async open(): Promise<void> {
    this.start()
    for (const operation of [addUser('ann'), addUser('bob'), promote('ann'), promote('bob')])
      this.ask(0, operation)
    await this.settle()
  }

  /** A client asks a server. Nobody answers if it does not run. `told`: called with what the client is answered. */
  ask(index: number, operation: Operation, told: (outcome: unknown) => void = () => {}): void {
    const server = this.#awake(index)
    if (server === undefined) return
    const asked = operation.asked(server.state)
    this.note(`${server.name}: ${operation.title}`)
    const call = this.#calls.ask(operation, asked)
    const answered = (outcome: unknown): void => {
      if (this.#places[index]!.process?.server !== server) return
      this.note(`  ${server.name} answers "${String(outcome)}" to ${operation.title}`)
      this.#guard(() => this.#calls.answered(call, outcome))
      told(outcome)
    }
    this.#callsOf(server).push(() => this.#calls.lost(call))
    server.execute(asked.command).then(answered, answered)
  }

  /** A server executes a command that the reference does not know. */
  execute(index: number, command: Command<unknown>): void {
    const server = this.#awake(index)
    if (server === undefined) return
    this.note(`${server.name}: ${command.subject}`)
    server.execute(command).catch(() => {})
  }

  /** An instance beats at a server. Where it is not known there, it registers again. */
  beat(index: number, service: string, place: InstanceAddress): void {
    const server = this.#awake(index)
    if (server === undefined) return
    this.note(`${server.name}: beat of ${addressText(place)} in ${service}`)
    if (server.beat(service, place).kind === 'renewed') return
    this.ask(index, register(service, place), (outcome) => {
      if (outcome === 'known') server.beat(service, place)
    })
  }

  /** One of the things happens that can happen now, without a fault. */
  async progress(dice: number): Promise<void> {
    const possible = this.possible()
    const chosen = possible[dice % possible.length]
    if (chosen === undefined) return
    this.note(chosen.title)
    await chosen.run()
  }

  /** The next request of a server arrives at the store, with a fault. */
  fault(index: number, fault: RequestFault): void {
    const access = this.#places[index]?.process?.server.access
    if (access === undefined || access.underway === 0) return
    this.note(`s${index}: request arrives, ${fault}`)
    access.fault = fault
    access.arrive()
    access.fault = 'none'
  }

  /** The oldest commit of a server takes too long: its clients are refused, and it arrives later. */
  delay(index: number): void {
    this.note(`s${index}: commit takes too long`)
    this.#places[index]?.process?.server.access.delay()
  }

  /** A server dies. Its messages may still arrive. */
  crash(index: number): void {
    const place = this.#places[index]
    const server = place?.process?.server
    if (place === undefined || server === undefined) return
    this.note(`${server.name} dies`)
    place.process = undefined
    server.access.stop()
    this.#ghosts.push(server.access)
    for (const lose of this.#callsOf(server)) lose()
  }

  /** A server that does not run is started: it knows what the store has, and nothing of beats. */
  restart(index: number): void {
    const place = this.#places[index]
    if (place === undefined || place.process !== undefined) return
    const name = `s${index}`
    const server = new SimulatedServer({
      name,
      store: this.store,
      nowMs: () => this.nowMs,
      skewMs: () => place.skewMs,
      mostChanges: this.#conditions.mostChanges,
      tickMs: this.#hooks.tickMs ?? Infinity,
      planted: this.#planted,
    })
    const isChecked = this.#hooks.isUnchecked !== true
    place.process = { server, watcher: isChecked ? new Watcher(server, this.#reference) : undefined }
    this.note(`${name} starts at revision ${server.revision}`)
    this.#hooks.started?.(server, index)
  }

  /** The wall clock of a server jumps: it is this far from the right time from now on. */
  setClock(index: number, skewMs: number): void {
    const place = this.#places[index]
    if (place === undefined) return
    this.note(`s${index}: its clock is ahead by ${skewMs} ms`)
    place.skewMs = skewMs
    if (place.process !== undefined) place.process.server.hasLoaded = true
  }

  /** A server stops doing anything, or goes on. Its messages still arrive. */
  freeze(index: number, isFrozen: boolean): void {
    const server = this.#places[index]?.process?.server
    if (server === undefined || server.isFrozen === isFrozen) return
    this.note(`${server.name} ${isFrozen ? 'freezes' : 'goes on'}`)
    server.isFrozen = isFrozen
  }

  /** A server has lost its place in the feed: it reads everything. */
  reload(index: number): void {
    const server = this.#awake(index)
    if (server === undefined || server.access.lag === 0) return
    this.note(`${server.name} reads everything`)
    server.hasLoaded = true
    server.access.reload()
  }

  /** Time passes. */
  wait(ms: number): void {
    this.nowMs += ms
    this.note(`${ms} ms pass`)
  }

  /** A server removes the services that have been empty for a minute. */
  clean(index: number): void {
    this.note(`s${index}: clean services`)
    this.#awake(index)?.cleanServices(EMPTY_MS)
  }

  /** All servers run, everything is sent, written, delivered and answered. */
  async settle(): Promise<void> {
    for (const index of this.#places.keys()) {
      this.restart(index)
      this.freeze(index, false)
    }
    for (let round = 0; ; round++) {
      const possible = this.possible()
      if (possible.length === 0) break
      if (round > MOST_ROUNDS) violation('the servers never come to an end')
      for (const { run } of possible) await run()
      await this.pause()
    }
    if (this.#calls.open.length > 0) violation(`${this.#calls.open[0]!.title} is never answered`)
  }

  /** What promises have made due runs; a violation in it ends the simulation. */
  async pause(): Promise<void> {
    await microtasks()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** At the end: all servers know the same, which is right. */
  check(): void {
    const running = this.#places.flatMap(({ process }) => process ?? [])
    for (const { watcher } of running) watcher?.checkLast()
    checkEnd(
      this.store,
      this.#reference,
      running.map(({ server }) => server),
    )
    this.checkEqual()
  }

  /** The process of a server; undefined: none runs. */
  server(index: number): SimulatedServer | undefined {
    return this.#places[index]?.process?.server
  }

  /** At the end: all servers are equal, and another one that starts now is equal to them. */
  checkEqual(): void {
    const [first] = this.#places
    const others = this.#places.flatMap(({ process }) => process?.server ?? [])
    if (first === undefined) return
    first.process = undefined
    this.restart(0)
    checkEqualServers([...others, this.server(0)!])
  }

  /** The events that can happen now without a fault. */
  possible(): Step[] {
    const running = this.#places.flatMap(({ process }) => process?.server ?? [])
    const ghosts = this.#ghosts
      .filter(({ underway }) => underway > 0)
      .map((ghost): Step => {
        return {
          title: 'a dead request arrives',
          kind: 'request',
          server: undefined,
          run: () => ghost.arrive(),
        }
      })
    return [...running.flatMap(stepsOf), ...ghosts]
  }

  readonly #pending = new WeakMap<SimulatedServer, (() => void)[]>()

  #callsOf(server: SimulatedServer): (() => void)[] {
    const known = this.#pending.get(server) ?? []
    this.#pending.set(server, known)
    return known
  }

  #awake(index: number): SimulatedServer | undefined {
    const server = this.#places[index]?.process?.server
    return server?.isFrozen === false ? server : undefined
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Adds a line to what happened. */
  note(line: string): void {
    this.trace.push(line)
  }
}

function stepsOf(server: SimulatedServer): Step[] {
  const { name, access } = server
  const steps: Step[] = []
  const add = (kind: Step['kind'], title: string, run: Step['run']): void =>
    void steps.push({ kind, title: `${name}: ${title}`, server, run })
  if (access.underway > 0) add('request', 'request arrives', () => access.arrive())
  if (server.isFrozen) return steps
  if (server.hasDeferred) add('turn', 'turn', () => server.turn())
  if (access.lag > 0) add('feed', `gets revision ${server.revision + 1}`, () => access.deliver())
  return steps
}
