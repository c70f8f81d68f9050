import { ModelAccess } from '../../src/core/engine/model-access.test-support.ts'
import { ModelStore } from '../../src/core/engine/model-store.test-support.ts'
import type { Unit, UnitResult } from '../../src/core/engine/ports.ts'
import type { SharedContractStore, StoreKind } from './contract-store.ts'
import type { SharedState } from './server-on-store.ts'
import { sharedContract } from './shared-contract.ts'
import { sharedStateStore } from './shared-state-store.ts'
import { stateContract } from './store-contract.ts'

const stores = new Map<string, ModelStore>()

/** Everything arrives and is delivered at once. */
function promptAccess(store: ModelStore): SharedState {
  const access = new ModelAccess(store)
  return {
    mostChanges: access.mostChanges,
    load: async () => access.load(),
    follow: (follower) => access.follow(follower),
    async commit(units, decidedAt) {
      if (units.some(isTooLarge)) return units.map((unit) => resultOf(unit))
      const results = access.commit(units, decidedAt)
      while (access.underway > 0) access.arrive()
      while (access.lag > 0) access.deliver()
      return results
    },
  }
}

/** As much as a transaction of etcd takes: what is compared of a thing that was read counts twice. */
const MOST_OPERATIONS = 120

function isTooLarge({ reads, changes }: Unit): boolean {
  return 2 * reads.length + changes.length > MOST_OPERATIONS
}

function resultOf(unit: Unit): UnitResult {
  return isTooLarge(unit) ? { kind: 'failed', error: new Error('too large') } : { kind: 'conflict' }
}

async function open(place: string): Promise<SharedContractStore> {
  const store = stores.get(place)!
  return sharedStateStore({
    store: promptAccess(store),
    loadElsewhere: async () => store.load(),
    close: async () => {},
  })
}

const model: StoreKind<SharedContractStore> = {
  async emptyPlace() {
    const place = `place ${stores.size}`
    stores.set(place, new ModelStore())
    return place
  },
  crashed: async (place) => place,
  open,
  remove: async () => {},
  often: 100,
  writesBehind: false,
}

stateContract('model', model, sharedContract)
