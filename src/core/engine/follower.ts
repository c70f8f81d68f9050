import type { Change } from '../decisions/changes.ts'
import type { NamingLimits } from '../naming/state/naming-sizes.ts'
import type { Presence } from '../naming/state/presence.ts'
import type { Revision, Snapshot } from './ports.ts'
import { Serials } from './serials.ts'
import { firstStampOf, msOf, type Stamps, type Now } from '../decisions/stamps.ts'
import { State } from './state.ts'
import { contained, failed, fatal, nothing } from '../unexpected.ts'
import { serviceKeyText } from '../naming/state/service.ts'

/** One complete revision of the store: the changes of one commit. */
export interface Commit {
  readonly revision: Revision
  readonly changes: readonly Change[]
}

/** Dependencies of a follower. */
export interface FollowerOptions {
  readonly clock: () => Now
  /** The stamps that `clock` gives. */
  readonly stamps: Stamps
  /** Called by the state with everything that is applied. */
  readonly presence?: Presence
  /**
   * How far ahead of all stamps the `lastRefTime` of loaded services begins, in ms. A service that changes more than once in a
   * millisecond is ahead of its stamps. So servers that followed may have shown a later time than the store knows.
   */
  readonly lastRefAheadMs?: number
  /** Sees each change with the state before the step, then the state after it; not the loading at the start. */
  readonly observer?:
    | { see(change: Change, before: State, now: Now): void; seen(after: State): void }
    | undefined
  /** Takes applied changes in their order, with the last revision that was applied (the feed). */
  readonly feed: { publishChanges(changes: readonly Change[], revision: Revision): void }
}

/**
 * The only writer of the state and the only one that publishes to the feed. Changes are applied in one order. Commits
 * are applied in the order of their revisions. A change that is written behind is applied when it is decided. Each call
 * is one step: its changes are seen together. Methods are synchronous: after the call the state has the changes. An
 * error here ends the process (decision 0045): nothing is applied after it.
 */
export class Follower {
  readonly state: State
  readonly serials = new Serials()
  readonly #options: FollowerOptions
  #revision: Revision
  /** A change was applied in part: the state is wrong. */
  #isBroken = false

  constructor(state: State, options: FollowerOptions, revision: Revision = 0) {
    this.state = state
    this.#options = options
    this.#revision = revision
  }

  /** Follows a store from a snapshot. New stamps and times are above all earlier ones. */
  static load(snapshot: Snapshot, options: FollowerOptions, limits?: NamingLimits): Follower {
    options.stamps.see(snapshot.largestStamp)
    const now = options.clock()
    const follower = new Follower(
      new State(msOf(now.stamp) + (options.lastRefAheadMs ?? 0), limits, options.presence),
      options,
      snapshot.revision,
    )
    const { serials } = follower
    for (const { serial } of snapshot.services) serials.see(serial)
    for (const { record } of snapshot.instances) serials.see(record.serial)
    follower.#apply(changesOf(snapshot, now.stamp), now)
    return follower
  }

  /** The last revision that was applied. */
  get revision(): Revision {
    return this.#revision
  }

  /** Applies a commit. Throws if its revision is not later than the last one: no change may be applied twice or late. */
  applied({ revision, changes }: Commit): void {
    if (revision <= this.#revision)
      throw new Error(`Revision ${revision} came after revision ${this.#revision} of the store was applied`)
    this.#revision = revision
    this.appliedAhead(changes)
  }

  /** Applies the changes that lead to a snapshot. After a restore of the store, its revision may be an earlier one. */
  reloaded({ revision, changes }: Commit): void {
    this.#revision = revision
    this.appliedAhead(changes)
  }

  /** Applies changes ahead of their commit, which changes nothing here any more; or changes that are never written. */
  appliedAhead(changes: readonly Change[]): void {
    if (changes.length === 0) return
    if (this.#isBroken)
      throw new Error('The state is broken by an earlier fault, and nothing more is applied')
    try {
      const now = this.#options.clock()
      this.#show(changes, now)
      this.#apply(changes, now)
      contained('push', nothing, () => this.#options.observer?.seen(this.state))
      this.#options.feed.publishChanges(this.#seen(changes), this.#revision)
    } catch (error) {
      this.#isBroken = true
      fatal(error, 'a change could not be applied')
      throw error
    }
  }

  /** A change of waiting claims alone is no new list, and is not published. */
  #seen(changes: readonly Change[]): readonly Change[] {
    const unseen = new Set(this.state.takeUnseen())
    return unseen.size === 0 ? changes : changes.filter((change) => !unseen.has(change))
  }

  /** The observer works for people: a fault there changes nothing of the state. */
  #show(changes: readonly Change[], now: Now): void {
    const { observer } = this.#options
    if (observer === undefined) return
    for (const change of changes)
      try {
        observer.see(change, this.state, now)
      } catch (error) {
        failed('push', nothing, error)
      }
  }

  #apply(changes: Iterable<Change>, now: Now): void {
    const { state } = this
    const { stamps, lastRefAheadMs = 0 } = this.#options
    state.apply(changes, now)
    // A service that changes more than once in a millisecond is ahead of the clock. No later stamp is before it.
    const latestMs = state.latestRefMs - lastRefAheadMs - state.listsAheadMs
    if (latestMs > msOf(now.stamp)) stamps.see(firstStampOf(latestMs))
  }
}

/**
 * Everything that a store holds, as changes. `stamp` is used for all changes without one of their own. Every ephemeral
 * instance gets a full timeout again, so that a restart of the server empties no list. An instance that is not there,
 * but has remembered metadata, counts as having just left.
 */
function* changesOf(snapshot: Snapshot, stamp: number): Generator<Change> {
  for (const item of snapshot.configs) {
    const { createIp: ip, createUser: user } = item.origin
    yield { kind: 'config-published', op: 'I', item, previous: undefined, operator: { ip, user } }
  }
  for (const service of snapshot.services) yield { kind: 'service-saved', service, stamp }
  for (const record of snapshot.records) yield { kind: 'record-saved', ...record, stamp }
  yield* instancesOf(snapshot, stamp)
}

function* instancesOf({ services, instances }: Snapshot, stamp: number): Generator<Change> {
  const serials = new Map(services.map(({ key, serial }) => [serviceKeyText(key), serial]))
  for (const { serviceKey, record, healthy } of instances) {
    const serviceSerial = serials.get(serviceKeyText(serviceKey)) ?? 0
    yield { kind: 'instance-saved', serviceKey, serviceSerial, record, healthy, beat: true, stamp }
  }
}
