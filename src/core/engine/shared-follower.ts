import type { Change, FedChange } from '../decisions/changes.ts'
import { differenceTo } from './difference.ts'
import type { Follower } from './follower.ts'
import type { Loaded, SharedCommit, StoreFollower } from './ports.ts'
import { stampOfChange, type Stamps } from '../decisions/stamps.ts'
import type { State } from './state.ts'

/**
 * Follows a store that several servers share. Serials are numbers of one server, so the store has none: each new thing
 * gets the next serial. So all servers list instances in the same order, the order of the revisions.
 */
export class SharedFollower implements StoreFollower {
  readonly #follower: Follower
  readonly #stamps: Stamps

  /** `stamps`: no later decision of this server has a smaller stamp than an applied change. */
  constructor(follower: Follower, stamps: Stamps) {
    this.#follower = follower
    this.#stamps = stamps
  }

  applied({ revision, changes, stamp = 0 }: SharedCommit): void {
    this.#stamps.see(stamp)
    this.#follower.applied({ revision, changes: this.#seen(changes) })
  }

  reloaded(loaded: Loaded): void {
    const { revision, largestStamp } = loaded
    this.#stamps.see(largestStamp)
    const changes = differenceTo(loaded, this.#follower.state, largestStamp)
    this.#follower.reloaded({ revision, changes: this.#seen(changes) })
  }

  #seen(changes: readonly FedChange[]): readonly Change[] {
    for (const change of changes) this.#stamps.see(stampOfChange(change))
    const { state, serials } = this.#follower
    const wholes = changes.flatMap((change) => whole(change, state))
    return serials.ofFeed(wholes, state)
  }
}

/** A deletion with the item that it has deleted; who did it is in the history. */
function whole(change: FedChange, state: State): Change[] {
  if (change.kind !== 'config-deleted') return [change]
  const deleted = state.config(change.key)
  if (deleted === undefined) return []
  return [{ ...change, deleted, operator: { ip: '', user: null }, atMs: deleted.modifiedMs }]
}
