import type { Change } from './decisions/changes.ts'
import { type ConfigItem, type ConfigKey, configKey } from './config/state/config-item.ts'
import { publishConfig, type PublishConfig } from './config/commands/publish-config.ts'
import type { Command } from './decisions/decision.ts'
import type { Engine, ChangeGroup, CommitResult, SoleEngineStore } from './engine/ports.ts'
import { SoleEngine } from './engine/sole-engine.ts'
import { Follower } from './engine/follower.ts'
import { deregisterInstance } from './naming/commands/instance-commands.ts'
import type { InstanceAddress } from './naming/state/instance.ts'
import type { Instance } from './naming/state/service-entry.ts'
import { Liveness } from './naming/liveness/liveness.ts'
import { type RegisterInstance, registerInstance } from './naming/commands/register-instance.ts'
import type { Service, ServiceKey } from './naming/state/service.ts'
import { Refusal } from './refusal.ts'
import { Serials } from './engine/serials.ts'
import { firstStampOf, Stamps, type Now } from './decisions/stamps.ts'
import { State } from './engine/state.ts'

/** The service of most tests. */
export const ORDERS: ServiceKey = { namespaceId: 'public', groupedName: 'DEFAULT_GROUP@@orders' }

/** When most tests begin, epoch ms. */
export const WALL_MS = 1_800_000_000_000

let decisions = 0

/** Begins the stamps of {@link at} again. A millisecond has 1,024 stamps: a file of tests uses fewer. */
export function restartClock(): void {
  decisions = 0
}

/** A time on both clocks, `ms` after the start of the test. Each has a stamp of its own. */
export function at(ms: number): Now {
  return { wallMs: WALL_MS + ms, healthMs: ms, stamp: firstStampOf(WALL_MS + ms) + decisions++ }
}

/** 10.0.0.1:80 in DEFAULT, with these changes. */
export function address(other: Partial<InstanceAddress> = {}): InstanceAddress {
  return { ip: '10.0.0.1', port: 80, cluster: 'DEFAULT', ...other }
}

/** The registration of an ephemeral instance, with these changes. */
export function registration(other: Partial<RegisterInstance> = {}): RegisterInstance {
  return {
    serviceKey: ORDERS,
    address: address(),
    ephemeral: true,
    weight: 1,
    enabled: true,
    healthy: undefined,
    metadata: {},
    app: '',
    ...other,
  }
}

/** The publishing of `content` as a/G/public; its md5 is its text. */
export function publishing(content: string, other: Partial<PublishConfig> = {}): PublishConfig {
  return {
    key: configKey('public', 'G', 'a'),
    content: Buffer.from(content),
    md5: `md5 of ${content}`,
    type: undefined,
    notes: {},
    casMd5: undefined,
    operator: { ip: '10.9.9.9', user: null },
    ...other,
  }
}

const LIVENESS = new WeakMap<State, Liveness>()

/** A state that a liveness of this process follows; see {@link livenessOf}. */
export function livingState(process?: string): State {
  const liveness = new Liveness(process)
  const state = new State(WALL_MS, undefined, liveness)
  LIVENESS.set(state, liveness)
  return state
}

/** The liveness that follows a state of {@link livingState}. */
export function livenessOf(state: State): Liveness {
  const liveness = LIVENESS.get(state)
  if (liveness === undefined) throw new Error('not made by livingState()')
  return liveness
}

/** Dependencies of a beat. */
export function beatPartsOf(state: State) {
  return { state, liveness: livenessOf(state) }
}

/** When an instance was last heard (health time). */
export function lastBeatMs(state: State, instance: Instance): number | undefined {
  return livenessOf(state).lastBeatMs(instance)
}

/** Publishes through a state, without an engine. */
export function published(state: State, content: string, key: ConfigKey): ConfigItem {
  carryOut(state, publishConfig(publishing(content, { key })), at(0))
  const item = state.config(key)
  if (item === undefined) throw new Error('not published')
  return item
}

const SERIALS = new WeakMap<State, Serials>()

/** Applies the changes of decisions to a state without an engine, with serials for new things. */
export function applied(state: State, changes: readonly Change[], now: Now): void {
  const serials = SERIALS.get(state) ?? new Serials()
  SERIALS.set(state, serials)
  const [numbered = []] = serials.ofDecisions([changes], state)
  state.apply(numbered, now)
}

/** Decides a command on a state and applies its changes, as if it were committed at once. */
export function carryOut<T>(state: State, command: Command<T>, now: Now): T {
  const decision = command.decide(state, now)
  applied(state, decision.changes, now)
  return decision.outcome
}

/** Registers an instance in a state, and gives it. */
export function registered(state: State, other: Partial<RegisterInstance> = {}, now = at(0)): Instance {
  const input = registration(other)
  carryOut(state, registerInstance(input), now)
  const instance = state.instance(input.serviceKey, input.address)
  if (instance === undefined) throw new Error('not registered')
  return instance
}

/** Deregisters 10.0.0.1:80 of the service of most tests, with these changes. */
export function deregistered(state: State, other: Partial<InstanceAddress> = {}, now = at(0)): void {
  const target = { serviceKey: ORDERS, address: address(other), ephemeral: undefined }
  carryOut(state, deregisterInstance(target), now)
}

/** Applies the changes that a sweep of everything finds at this time. */
export function swept(state: State, ms: number, liveness = livenessOf(state)): void {
  const found = liveness.sweep(at(ms), () => true)
  state.apply(found, at(ms))
}

/** The code of the refusal that a function throws; undefined when it throws none. */
export function refusalOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
  return undefined
}

/** Runs the callbacks of settled promises. */
export async function microtasks(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

interface PendingCommit {
  readonly groups: readonly ChangeGroup[]
  readonly resolve: (result: CommitResult) => void
  readonly reject: (error: Error) => void
}

type SavedInstance = Extract<Change, { kind: 'instance-saved' }>

/** A store whose commits end when the test says so. It keeps the state that a restart would find. */
class FakeStore implements SoleEngineStore {
  readonly pending: PendingCommit[] = []
  /** The groups of every commit that was begun. */
  readonly begun: (readonly ChangeGroup[])[] = []
  readonly services = new Map<number, Service>()
  readonly instances = new Map<number, SavedInstance>()
  /** By id: tests use one kind at a time. */
  readonly records = new Map<string, unknown>()
  readonly contents = new Map<string, string>()
  /** The changes of failed commits. A crash may find them on the disk, until the next commit. */
  readonly #doubtful: (readonly Change[])[] = []
  #revision = 1

  mayHave(serial: number): boolean {
    const underway = this.pending.flatMap(({ groups }) => groups.flat())
    return (
      this.surelyHas(serial) ||
      [...underway, ...this.#doubtful.flat()].some((one) => savedSerial(one) === serial)
    )
  }

  surelyHas(serial: number): boolean {
    return this.services.has(serial) || this.instances.has(serial)
  }

  commit(groups: readonly ChangeGroup[]): Promise<CommitResult> {
    this.begun.push(groups)
    return new Promise((resolve, reject) => this.pending.push({ groups, resolve, reject }))
  }

  /** The commit in flight reaches the disk. */
  succeed(): void {
    const commit = this.#next()
    for (const change of commit.groups.flat()) this.#write(change)
    this.#doubtful.splice(0)
    commit.resolve({ kind: 'committed', revision: this.#revision++ })
  }

  /** One group of the commit in flight cannot be written. */
  refuseGroup(group: number): void {
    this.#nextInDoubt().resolve({ kind: 'failed', group, error: new Error(`bad group ${group}`) })
  }

  /** The store as a whole cannot write. */
  fail(): void {
    this.#nextInDoubt().reject(new Error('disk full'))
  }

  #nextInDoubt(): PendingCommit {
    const commit = this.#next()
    this.#doubtful.push(commit.groups.flat())
    return commit
  }

  /** The instances that a crash at this moment may find: on disk, or after a commit that is underway or in doubt. */
  crashes(): SavedInstance[][] {
    const perhaps = [[], ...this.pending.map(({ groups }) => groups.flat()), ...this.#doubtful]
    return perhaps.map((changes) => {
      const found = new Map(this.instances)
      for (const change of changes) writeInstance(found, change)
      return [...found.values()]
    })
  }

  #next(): PendingCommit {
    const commit = this.pending.shift()
    if (commit === undefined) throw new Error('no commit is in flight')
    return commit
  }

  #write(change: Change): void {
    if (change.kind === 'config-published')
      this.contents.set(change.item.key.dataId, String(change.item.content))
    if (change.kind === 'config-deleted') this.contents.delete(change.key.dataId)
    if (change.kind === 'service-saved') this.services.set(change.service.serial, change.service)
    if (change.kind === 'service-deleted') this.services.delete(change.serial)
    writeInstance(this.instances, change)
    if (change.kind === 'record-saved') this.records.set(change.id, change.value)
    if (change.kind === 'record-removed') this.records.delete(change.id)
  }
}

function writeInstance(instances: Map<number, SavedInstance>, change: Change): void {
  if (change.kind === 'instance-saved') instances.set(change.record.serial, change)
  if (change.kind === 'instance-removed') instances.delete(change.serial)
}

function savedSerial(change: Change): number | undefined {
  if (change.kind === 'service-saved') return change.service.serial
  return change.kind === 'instance-saved' ? change.record.serial : undefined
}

/** An engine on a state and a fake store, whose time and turns of the loop are the test's. */
export class EngineWorld {
  readonly state: State
  readonly liveness: Liveness
  readonly store = new FakeStore()
  /** Every change that was published. */
  readonly published: Change[] = []
  /** The same, revision by revision. */
  readonly revisions: (readonly Change[])[] = []
  readonly stamps = new Stamps()
  readonly follower: Follower
  readonly reports: string[] = []
  readonly engine: Engine
  nowMs = 0
  #deferred: (() => void)[] = []

  /** `mostBehind`: the most records of a commit. */
  constructor(mostBehind = 1_000, process?: string) {
    this.state = livingState(process)
    this.liveness = livenessOf(this.state)
    const clock = (): Now => this.#now()
    const publishChanges = (changes: readonly Change[]): void => {
      this.published.push(...changes)
      this.revisions.push(changes)
    }
    this.follower = new Follower(this.state, { clock, stamps: this.stamps, feed: { publishChanges } })
    this.engine = new SoleEngine({
      mostBehind,
      follower: this.follower,
      store: this.store,
      clock,
      loop: { now: () => this.nowMs, soon: (run) => this.#deferred.push(run) },
      report: (_error, what) => this.reports.push(what),
    })
  }

  #now(): Now {
    const { wallMs, healthMs } = at(this.nowMs)
    return { wallMs, healthMs, stamp: this.stamps.next(wallMs) }
  }

  /** Gives the engine a command whose answer does not matter. */
  start(command: Command<unknown>): void {
    void this.engine.execute(command)
  }

  /** Whether something waits for the next turn of the loop. */
  get hasDeferred(): boolean {
    return this.#deferred.length > 0
  }

  /** One turn of the loop: runs deferred functions, and the promises that they settle. */
  async turn(): Promise<void> {
    const deferred = this.#deferred
    this.#deferred = []
    for (const run of deferred) run()
    await microtasks()
  }

  /** Turns until all callers that the next batch waits for are there, and it is begun. */
  async gathered(): Promise<void> {
    while (this.hasDeferred) await this.turn()
  }

  /** The commit in flight reaches the disk, and its callers are notified. */
  async succeed(): Promise<void> {
    this.store.succeed()
    await microtasks()
  }

  /** A turn, and the commit that it begins reaches the disk. */
  async commit(): Promise<void> {
    await this.turn()
    await this.succeed()
  }

  /** The commit in flight fails, and its callers are notified. */
  async fail(): Promise<void> {
    this.store.fail()
    await microtasks()
  }

  /** One group of the commit in flight cannot be written, and its callers are notified. */
  async refuseGroup(group: number): Promise<void> {
    this.store.refuseGroup(group)
    await microtasks()
  }

  /** A tick of the engine, and the turn in which it writes the records that are behind. */
  async tick(): Promise<void> {
    this.engine.tick()
    await this.turn()
  }

  /** Turns and commits until nothing is left to do. */
  async quiet(): Promise<void> {
    while (this.hasDeferred || this.store.pending.length > 0) {
      await this.turn()
      if (this.store.pending.length > 0) await this.succeed()
    }
  }

  /** Writes the records that are behind, as the next ticks would. */
  async flush(): Promise<void> {
    for (let tick = 0; tick < 12; tick++) {
      this.engine.tick()
      await this.quiet()
    }
  }
}

/** The state of a promise or a value so far. */
export function watched<T>(outcome: T | Promise<T>): { value?: T; error?: unknown; waits: boolean } {
  const seen: { value?: T; error?: unknown; waits: boolean } = { waits: true }
  const note = (value: T): void => void Object.assign(seen, { value, waits: false })
  if (!(outcome instanceof Promise)) note(outcome)
  else outcome.then(note, (error: unknown) => Object.assign(seen, { error, waits: false }))
  return seen
}
