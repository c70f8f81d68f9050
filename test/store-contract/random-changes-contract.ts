import { expect, test } from 'vitest'
import type { Change } from '../../src/core/decisions/changes.ts'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import { between, randomFrom, type Random } from '../faults/random.ts'
import type { ContractStore, StoreBench } from './contract-store.ts'
import { deleted, instanceSaved, published, sampleInstance, sampleKey, sampleService } from './samples.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const KEEP_NOTHING = { beforeMs: Number.MAX_SAFE_INTEGER, keep: 0, most: 3 }

/** Writes something that fails, with other changes. Nothing of it is kept. */
export type WriteInVain<S> = (store: S, changes: readonly Change[]) => Promise<void>

/** Whatever is changed in whatever order, together or not, comes back as it was last. */
export function randomChangesContract(bench: StoreBench): void {
  randomChanges(bench, async (store) => {
    const bad = instanceSaved(sampleService('shop', 1), { ...sampleInstance(80), weight: Number.NaN }, true)
    await expect(store.write(bad)).rejects.toBeInstanceOf(Error)
  })
}

/** The same, with failures of another kind. */
export function randomChanges<S extends ContractStore>(
  bench: StoreBench<S>,
  writeInVain: WriteInVain<S>,
): void {
  test.each([1, 2, 3, 4])('items come back in their latest state, random changes %i', async (seed) => {
    const random = randomFrom(seed)
    let store = await bench.fresh()
    let items = new Map<string, ConfigItem>()
    for (let round = 0; round < 60; round++) {
      const next = new Map(items)
      const changes = Array.from({ length: between(random, 1, 6) }, () => change(random, next))
      if (between(random, 0, 4) === 0) await writeInVain(store, changes)
      else {
        await store.write(...changes)
        items = next
      }
      if (between(random, 0, 5) === 0) await store.kept.cleanHistory(KEEP_NOTHING)
      if (between(random, 0, 5) > 0) continue
      store = await bench.reopen(store)
      const { configs } = await store.load()
      expect(configs.toSorted(byName)).toEqual([...items.values()].toSorted(byName))
      items = new Map(configs.map((item) => [item.key.dataId, item]))
    }
  })
}

/** A publish, with other notes or without, or the end of an item. */
function change(random: Random, items: Map<string, ConfigItem>): Change {
  const name = NAMES[between(random, 0, NAMES.length - 1)] ?? 'a'
  const previous = items.get(name)
  if (previous !== undefined && between(random, 0, 3) === 0) {
    items.delete(name)
    return deleted(previous)
  }
  const desc = between(random, 0, 2) === 0 ? `${between(random, 0, 2)}` : (previous?.notes.desc ?? null)
  const made = published(sampleKey(name), { content: `${random()}`, previous, notes: { desc } })
  items.set(name, made.item)
  return made
}

function byName(a: ConfigItem, b: ConfigItem): number {
  return a.key.dataId < b.key.dataId ? -1 : 1
}
