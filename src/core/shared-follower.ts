import type { Change } from './changes.ts'
import { differenceTo } from './difference.ts'
import type { Follower } from './follower.ts'
import type { Revision, Snapshot, StoreFollower } from './ports.ts'
import { stampOfId, type Stamps } from './stamps.ts'
import type { State } from './state.ts'

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

  applied({ revision, changes }: { revision: Revision; changes: readonly Change[] }): void {
    this.#follower.applied({ revision, changes: this.#seen(changes) })
  }

  reloaded(snapshot: Snapshot): void {
    this.#stamps.see(snapshot.largestStamp)
    const changes = differenceTo(snapshot, this.#follower.state, snapshot.largestStamp)
    this.#follower.reloaded({ revision: snapshot.revision, changes: this.#seen(changes) })
  }

  #seen(changes: readonly Change[]): readonly Change[] {
    for (const change of changes) this.#stamps.see(stampOf(change))
    return withSerials(changes, this.#follower.state)
  }
}

function stampOf(change: Change): number {
  if (change.kind === 'config-published') return stampOfId(change.item.historyId)
  if (change.kind === 'config-deleted') return stampOfId(change.historyId)
  return 'stamp' in change ? change.stamp : 0
}

/** The changes with the serials of this server: the one that a service or an instance has, or the next one. */
function withSerials(changes: readonly Change[], state: State): readonly Change[] {
  return changes.map((change): Change => {
    if (change.kind === 'service-saved') {
      const serial = state.service(change.service.key)?.serial ?? state.nextSerial()
      return { ...change, service: { ...change.service, serial } }
    }
    if (change.kind !== 'instance-saved') return change
    const known = state.instance(change.serviceKey, change.record.address)
    const serial = known?.record.serial ?? state.nextSerial()
    return { ...change, record: { ...change.record, serial } }
  })
}
