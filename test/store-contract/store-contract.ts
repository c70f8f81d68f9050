import { afterEach, describe } from 'vitest'
import { auditContract } from './audit-contract.ts'
import { cleaningContract } from './cleaning-contract.ts'
import { configContract } from './config-contract.ts'
import type { ContractStore, StateStore, StoreBench, StoreKind } from './contract-store.ts'
import { grayContract } from './gray-contract.ts'
import { historyContract } from './history-contract.ts'
import { largestContract, largestJobsContract, partsContract } from './largest-contract.ts'
import { namingContract } from './naming-contract.ts'
import { orderContract } from './order-contract.ts'
import { randomChangesContract } from './random-changes-contract.ts'
import { recordContract } from './record-contract.ts'
import { rememberedContract } from './remembered-contract.ts'
import { unwritableContract } from './unwritable-contract.ts'
import { writeContract } from './write-contract.ts'

/** A part of the contract. */
export type ContractPart<S extends StateStore = ContractStore> = (bench: StoreBench<S>) => void

/** The data that is read back after writes. */
const OF_THE_STATE: readonly ContractPart<StateStore>[] = [
  configContract,
  namingContract,
  recordContract,
  writeContract,
  orderContract,
  largestContract,
  partsContract,
]
/** The data of a store besides the state. */
const KEPT: readonly ContractPart[] = [
  historyContract,
  grayContract,
  cleaningContract,
  auditContract,
  rememberedContract,
  randomChangesContract,
  unwritableContract,
  largestJobsContract,
]

/** The promises of every store, whichever port it has (`src/core/engine/ports.ts`), as tests. `more`: parts for this kind only. */
export function storeContract<S extends ContractStore>(
  name: string,
  kind: StoreKind<S>,
  ...more: readonly ContractPart<S>[]
): void {
  contract(name, kind, [...OF_THE_STATE, ...KEPT, ...more])
}

/** The contract of a store that keeps the state and nothing else. */
export function stateContract<S extends StateStore>(
  name: string,
  kind: StoreKind<S>,
  ...more: readonly ContractPart<S>[]
): void {
  contract(name, kind, [...OF_THE_STATE, ...more])
}

function contract<S extends StateStore>(
  name: string,
  kind: StoreKind<S>,
  parts: readonly ContractPart<S>[],
): void {
  describe(`${name}: the store contract`, () => {
    const places = new Map<S, string>()
    const openAt = async (place: string): Promise<S> => {
      const store = await kind.open(place)
      places.set(store, place)
      return store
    }
    const placeOf = (store: S): string => {
      const place = places.get(store)
      if (place === undefined) throw new Error('Not a store of this bench')
      return place
    }
    const bench: StoreBench<S> = {
      often: kind.often,
      writesBehind: kind.writesBehind,
      fresh: async () => openAt(await kind.emptyPlace()),
      async reopen(store) {
        const place = placeOf(store)
        await store.close()
        places.delete(store)
        return openAt(place)
      },
      crash: async (store) => openAt(await kind.crashed(placeOf(store))),
    }
    afterEach(async () => {
      for (const store of places.keys()) await store.close()
      for (const place of new Set(places.values())) await kind.remove(place)
      places.clear()
    })
    for (const part of parts) part(bench)
  })
}
