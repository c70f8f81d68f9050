import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import { auditContract } from './audit-contract.ts'
import { configContract } from './config-contract.ts'
import { cleaningContract } from './cleaning-contract.ts'
import { commitContract } from './commit-contract.ts'
import { historyContract } from './history-contract.ts'
import { namingContract } from './naming-contract.ts'
import { recordContract } from './record-contract.ts'
import { orderContract } from './order-contract.ts'
import { randomChangesContract } from './random-changes-contract.ts'

/** How a part of the contract gets at stores. */
export interface StoreBench {
  /** A new, empty store. */
  fresh(): Promise<Store>
  /** The same data opened again, as after a restart. */
  reopen(store: Store): Promise<Store>
  /** What is on disk now opened as another store, as after a crash of the server; this store stays as it is. */
  crash(store: Store): Promise<Store>
}

/**
 * What every store promises (`src/core/ports.ts`), as tests. `open` opens the store of a directory, and is
 * called again with the same directory after `close`.
 */
export function storeContract(name: string, open: (directory: string) => Promise<Store>): void {
  describe(`${name}: the store contract`, () => {
    const directories = new Map<Store, string>()
    const bench: StoreBench = {
      async fresh() {
        const directory = await mkdtemp(join(tmpdir(), 'waypost-store-'))
        const store = await open(directory)
        directories.set(store, directory)
        return store
      },
      async reopen(store) {
        const directory = directories.get(store)
        if (directory === undefined) throw new Error('Not a store of this bench')
        await store.close()
        directories.delete(store)
        const again = await open(directory)
        directories.set(again, directory)
        return again
      },
      async crash(store) {
        const copy = await mkdtemp(join(tmpdir(), 'waypost-store-'))
        await cp(directories.get(store) ?? '', copy, { recursive: true })
        const again = await open(copy)
        directories.set(again, copy)
        return again
      },
    }
    afterEach(async () => {
      for (const [store, directory] of directories) {
        await store.close()
        await rm(directory, { recursive: true, force: true })
      }
      directories.clear()
    })

    configContract(bench)
    namingContract(bench)
    recordContract(bench)
    historyContract(bench)
    cleaningContract(bench)
    auditContract(bench)
    commitContract(bench)
    orderContract(bench)
    randomChangesContract(bench)
  })
}
