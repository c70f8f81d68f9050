import type { Change, FedChange } from '../../src/core/decisions/changes.ts'
import { type Command, synced } from '../../src/core/decisions/decision.ts'
import { serviceKeyText } from '../../src/core/naming/state/service.ts'
import type { Revision, Snapshot } from '../../src/core/engine/ports.ts'
import { changedThing, readText } from '../../src/core/decisions/reads.ts'
import type { FollowedStore, SharedContractStore } from './contract-store.ts'
import { deepFrozen } from './samples.ts'
import { type ServerOnStore, PATIENT_MS, type SharedState, sharedServerOn } from './server-on-store.ts'

/** A shared store for the contract. */
export interface SharedParts {
  readonly store: SharedState
  /** The state that another server loads if it starts now. */
  readonly loadElsewhere: () => Promise<Snapshot>
  readonly close: () => Promise<void>
}

/** A store that several servers share, under the contract: changes are commands of a server on it. */
export function sharedStateStore({ store, loadElsewhere, close }: SharedParts): SharedContractStore {
  let server: Promise<ServerOnStore> | undefined
  const serve = (wallMs?: number): Promise<ServerOnStore> => (server ??= sharedServerOn(store, wallMs))
  return {
    serve,
    load: loadElsewhere,
    async write(...changes) {
      const { engine } = await serve()
      await Promise.all(changes.map(async (change) => engine.execute(commandOf(deepFrozen(change)))))
    },
    follow: () => followed(store),
    close,
  }
}

async function followed(store: SharedState): Promise<FollowedStore> {
  let { revision } = await store.load()
  const revisions: Revision[] = []
  const seen: FedChange[] = []
  store.follow({
    applied(commit) {
      revision = commit.revision
      revisions.push(revision)
      seen.push(...commit.changes)
    },
    reloaded() {},
  })
  return {
    commit: (units, decidedAt) => store.commit(units, decidedAt, PATIENT_MS),
    revision: () => revision,
    revisions,
    seen,
  }
}

/** Makes this change, whatever there is. Changes of one service are decided in its order. */
function commandOf(change: Change): Command<void> {
  const thing = changedThing(change)
  const subject =
    thing.of === 'service'
      ? serviceKeyText(thing.key)
      : thing.of === 'instance'
        ? serviceKeyText(thing.serviceKey)
        : readText(thing)
  return { subject, decide: () => synced([change], undefined) }
}
