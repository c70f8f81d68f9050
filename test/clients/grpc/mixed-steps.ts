import { expect } from 'vitest'
import type { DrivenClient } from './driven-client.ts'
import { portsOf } from './naming-steps.ts'
import type { Step } from './step.ts'

/** A client of 1.x, which uses HTTP and UDP, and a client over gRPC on one server. `old`: the client of 1.x. */
export function mixedSteps(old: DrivenClient): readonly Step[] {
  return [
    {
      title: '1.x: items are read and heard both ways',
      run: async ({ client, run }) => {
        const fresh = await client('mixed')
        for (const [from, to] of [
          [old, fresh],
          [fresh, old],
        ] as const) {
          const item = { dataId: `mixed-${from === old ? 'old' : 'fresh'}-${run}` }
          expect(await from.publish(item, 'first')).toBe(true)
          expect(await to.read(item)).toBe('first')
          const watch = await to.listen(item)
          await from.publish(item, 'second')
          await watch.until('the second', (seen) => seen === 'second')
        }
      },
    },
    {
      title: '1.x: the removal of an item is heard both ways',
      run: async ({ client, run }) => {
        const fresh = await client('mixed')
        for (const [from, to] of [
          [old, fresh],
          [fresh, old],
        ] as const) {
          const item = { dataId: `mixed-gone-${from === old ? 'old' : 'fresh'}-${run}` }
          expect(await from.publish(item, 'first')).toBe(true)
          const watch = await to.listen(item)
          await from.publish(item, 'second')
          await watch.until('the second', (seen) => seen === 'second')
          await from.remove(item)
          await watch.until('the removal', (seen) => seen === '' || seen === null)
        }
      },
    },
    {
      title: '1.x: instances are seen and heard both ways',
      run: async ({ client, run }) => {
        const fresh = await client('a')
        const service = { service: `mixed-${run}` }
        await old.register(service, { port: 1 })
        const [seenByOld, seenByFresh] = [await old.subscribe(service), await fresh.subscribe(service)]
        await seenByFresh.until('that of 1.x', (seen) => portsOf(seen).join() === '1')
        await fresh.register(service, { port: 2, metadata: { zone: 'a' } })
        await seenByOld.until('that over gRPC', (seen) => portsOf(seen).join() === '1,2')
        expect(portsOf(await old.instances(service))).toEqual([1, 2])
        expect(portsOf(await fresh.instances(service))).toEqual([1, 2])
        await old.deregister(service, { port: 1 })
        await seenByFresh.until('the end of that of 1.x', (seen) => portsOf(seen).join() === '2')
        await fresh.deregister(service, { port: 2 })
        expect(await old.instances(service)).toEqual([])
      },
    },
  ]
}
