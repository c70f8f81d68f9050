import type { Change } from '../../src/core/changes.ts'
import { type Command, synced } from '../../src/core/decision.ts'
import { serviceKeyText } from '../../src/core/naming/service.ts'
import type { Snapshot } from '../../src/core/ports.ts'
import { readText } from '../../src/core/reads.ts'
import { changedThing } from '../../src/core/units.ts'
import type { StateStore } from './contract-store.ts'
import { deepFrozen } from './samples.ts'
import { type ServerOnStore, type SharedState, sharedServerOn } from './server-on-store.ts'

/** A shared store for the contract. */
export interface SharedParts {
  readonly store: SharedState
  /** What another server that starts now loads. */
  readonly loadElsewhere: () => Promise<Snapshot>
  readonly close: () => Promise<void>
}

/** A store that several servers share, under the contract: changes are commands of a server on it. */
export function sharedStateStore({ store, loadElsewhere, close }: SharedParts): StateStore {
  let server: Promise<ServerOnStore> | undefined
  const serve = (wallMs?: number): Promise<ServerOnStore> => (server ??= sharedServerOn(store, wallMs))
  return {
    serve,
    load: loadElsewhere,
    async write(...changes) {
      const { engine } = await serve()
      await Promise.all(changes.map(async (change) => engine.execute(commandOf(deepFrozen(change)))))
    },
    close,
  }
}

/** Makes this change, whatever there is. What belongs to one service is decided in its order. */
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
