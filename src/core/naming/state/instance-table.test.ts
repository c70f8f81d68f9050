import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstanceTable } from './instance-table.ts'
import { addressText, type InstanceAddress } from './instance.ts'
import type { Instance } from './service-entry.ts'

const address: fc.Arbitrary<InstanceAddress> = fc.record({
  ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1', '', 'é'),
  port: fc.nat(3),
  cluster: fc.constantFrom('A', 'B'),
})
const step = fc.tuple(fc.constantFrom('add', 'delete', 'get'), address, fc.nat())

test('behaves like a Map, in the order of serials', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new InstanceTable<Instance>()
      const model = new Map<string, Instance>()
      for (const [what, at, serial] of steps) {
        const key = addressText(at)
        if (what === 'delete') expect(table.delete({ ...at })).toBe(model.delete(key))
        if (what === 'add' && !model.has(key)) {
          model.set(key, instanceAt(at, serial))
          table.add(model.get(key)!)
        }
        expect(table.get({ ...at })).toBe(model.get(key))
        expect(table.size).toBe(model.size)
        expect([...table.values()].map(serialOf)).toEqual(
          [...model.values()].map(serialOf).sort((a, b) => a - b),
        )
      }
    }),
  )
})

test('finds each of very many instances, and does not grow when they are replaced', () => {
  const table = new InstanceTable<Instance>()
  const all = Array.from({ length: 20_000 }, (_, n) =>
    instanceAt({ ip: `10.0.${n >> 8}.${n & 255}`, port: 8_080, cluster: 'DEFAULT' }),
  )
  for (const round of [1, 2, 3]) {
    for (const instance of all) table.add(instance)
    expect(all.every((instance) => table.get({ ...instance.record.address }) === instance)).toBe(true)
    for (const instance of all.slice(round)) expect(table.delete(instance.record.address)).toBe(true)
    expect([...table.values()]).toEqual(all.slice(0, round))
    for (const instance of all.slice(0, round)) table.delete(instance.record.address)
    expect(table.size).toBe(0)
  }
})

test.each([1, 2, 7])('returns each of %i that are removed during a walk', (count) => {
  const table = new InstanceTable<Instance>()
  for (let port = 0; port < count; port++) table.add(instanceAt({ ip: '127.0.0.1', port, cluster: 'A' }))
  const given: number[] = []
  for (const { record } of table.values()) {
    given.push(record.address.port)
    table.delete(record.address)
  }
  expect(given).toEqual(Array.from({ length: count }, (_, port) => port))
  expect(table.size).toBe(0)
})

function instanceAt(at: InstanceAddress, serial = 0): Instance {
  return { record: { address: at, serial } } as Instance
}

function serialOf({ record }: Instance): number {
  return record.serial
}
