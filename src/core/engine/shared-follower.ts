import type { Change, FedChange } from '../decisions/changes.ts'
import { differenceTo } from './difference.ts'
import type { Follower } from './follower.ts'
import type { SharedCommit, Snapshot, StoreFollower } from './ports.ts'
import { stampOfChange, type Stamps } from '../decisions/stamps.ts'
import { readText } from '../decisions/reads.ts'
import type { State } from './state.ts'
import { changedThing } from './units.ts'

/**
 * Follows a store that several servers share. The store has no serials, because they are numbers of one server: what is new
 * gets the next one. So all servers list instances in the same order, which is that of the revisions.
 */
export class SharedFollower implements StoreFollower {
  readonly #follower: Follower
  readonly #stamps: Stamps

  /** `stamps`: no later decision of this server is before what it has applied. */
  constructor(follower: Follower, stamps: Stamps) {
    this.#follower = follower
    this.#stamps = stamps
  }

  applied({ revision, changes, stamp = 0 }: SharedCommit): void {
    this.#stamps.see(stamp)
    this.#follower.applied({ revision, changes: this.#seen(changes) })
  }

  reloaded(snapshot: Snapshot): void {
    this.#stamps.see(snapshot.largestStamp)
    const changes = differenceTo(snapshot, this.#follower.state, snapshot.largestStamp)
    this.#follower.reloaded({ revision: snapshot.revision, changes: this.#seen(changes) })
  }

  #seen(changes: readonly FedChange[]): readonly Change[] {
    for (const change of changes) this.#stamps.see(stampOfChange(change))
    const { state } = this.#follower
    return withSerials(
      changes.flatMap((change) => whole(change, state)),
      state,
    )
  }
}

/** A deletion with the item that it has deleted; who did it is in the history. */
function whole(change: FedChange, state: State): Change[] {
  if (change.kind !== 'config-deleted') return [change]
  const deleted = state.config(change.key)
  if (deleted === undefined) return []
  return [{ ...change, deleted, operator: { ip: '', user: null }, atMs: deleted.modifiedMs }]
}

/**
 * The changes with the serials of this server: the one that a service or an instance has, or the next one. What leaves and comes
 * back in one revision is new.
 */
function withSerials(changes: readonly Change[], state: State): readonly Change[] {
  const left = new Set<string>()
  return changes.map((change): Change => {
    if (change.kind === 'service-deleted' || change.kind === 'instance-removed') left.add(thingText(change))
    if (change.kind !== 'service-saved' && change.kind !== 'instance-saved') return change
    const isNew = left.has(thingText(change))
    if (change.kind === 'service-saved') {
      const known = isNew ? undefined : state.service(change.service.key)
      return { ...change, service: { ...change.service, serial: known?.serial ?? state.nextSerial() } }
    }
    const known = isNew ? undefined : state.instance(change.serviceKey, change.record.address)
    return { ...change, record: { ...change.record, serial: known?.record.serial ?? state.nextSerial() } }
  })
}

function thingText(change: Change): string {
  return readText(changedThing(change))
}
