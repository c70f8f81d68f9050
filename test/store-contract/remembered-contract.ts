import { expect, test } from 'vitest'
import type { StoreBench } from './contract-store.ts'

/** The small values that a store keeps for the server. */
export function rememberedContract(bench: StoreBench): void {
  test('a remembered value is recalled', async () => {
    let store = await bench.fresh()
    expect(await store.kept.recall('clock')).toBeUndefined()
    await store.kept.remember('clock', '1')
    await store.kept.remember('clock', '2')
    store = await bench.reopen(store)
    expect(await store.kept.recall('clock')).toBe('2')
  })
}
