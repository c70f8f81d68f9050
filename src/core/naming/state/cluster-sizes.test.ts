import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClusterSizes } from './cluster-sizes.ts'

const CLUSTERS = ['DEFAULT', 'a', 'b', '']

test('counts like a Map, in the order of the names, for any order of adds and removes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.constantFrom(...CLUSTERS))), (steps) => {
      const sizes = new ClusterSizes()
      const model = new Map<string, number>()
      for (const [comes, cluster] of steps) {
        const before = model.get(cluster) ?? 0
        if (comes) sizes.add(cluster)
        else if (before > 0) sizes.remove(cluster)
        const after = comes ? before + 1 : Math.max(before - 1, 0)
        if (after === 0) model.delete(cluster)
        else model.set(cluster, after)
        expect(sizes.names()).toEqual([...model.keys()].sort())
        expect(sizes.size).toBe(model.size)
        for (const name of CLUSTERS) expect(sizes.has(name)).toBe(model.has(name))
      }
    }),
  )
})
