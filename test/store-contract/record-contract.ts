import { expect, test } from 'vitest'
import { REMEMBERED_METADATA, rememberedId } from '../../src/core/naming/state/remembered-metadata.ts'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { SWITCH } from '../../src/core/switches/switch-records.ts'
import { type RecordKind, recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import { sampleInstance, serviceKey } from './samples.ts'
import type { StateStore, StoreBench } from './contract-store.ts'

const saved = <T>(kind: RecordKind<T>, id: string, value: T) => recordSaved(kind, { id, value, stamp: 0 })
const namespace = (id: string, showName: string) =>
  saved(NAMESPACE, id, { id, showName, desc: `about ${id}` })

/** Small records of every kind come back as they were committed. */
export function recordContract(bench: StoreBench<StateStore>): void {
  test('records are saved, changed and removed, and keep the order in which they were first saved', async () => {
    let store = await bench.fresh()
    for (const one of [namespace('z', 'Z'), namespace('dev', 'Dev'), namespace('a', 'A')])
      await store.write(one)
    await store.write(namespace('z', 'changed'), recordRemoved(NAMESPACE, 'dev', 0))
    await store.write(namespace('b', 'B'))
    store = await bench.reopen(store)
    const found = (await store.load()).records.map(({ id, value }) => [id, value])
    expect(found).toEqual(
      [namespace('z', 'changed'), namespace('a', 'A'), namespace('b', 'B')].map(({ id, value }) => [
        id,
        value,
      ]),
    )
  })

  test('records of different kinds may have the same id', async () => {
    let store = await bench.fresh()
    await store.write(namespace('checkTimes', 'n'), saved(SWITCH, 'checkTimes', 7))
    await store.write(recordRemoved(NAMESPACE, 'checkTimes', 0))
    store = await bench.reopen(store)
    expect((await store.load()).records).toMatchObject([{ recordKind: 'switch', id: 'checkTimes', value: 7 }])
  })

  test('remembered metadata comes back with its key and any texts', async () => {
    let store = await bench.fresh()
    const place = { serviceKey: serviceKey('shop'), address: sampleInstance(80).address }
    const value = { ...place, metadata: { 'a"\n': 'ü \0 \u2028', b: '' } }
    await store.write(saved(REMEMBERED_METADATA, rememberedId(place), value))
    store = await bench.reopen(store)
    expect((await store.load()).records).toMatchObject([
      { recordKind: 'remembered-metadata', id: rememberedId(place), value },
    ])
  })

  test('each switch is a record, also one that is null', async () => {
    let store = await bench.fresh()
    await store.write(saved(SWITCH, 'pushEnabled', false))
    await store.write(saved(SWITCH, 'overriddenServerStatus', null))
    store = await bench.reopen(store)
    expect((await store.load()).records.map(({ id, value }) => [id, value])).toEqual([
      ['pushEnabled', false],
      ['overriddenServerStatus', null],
    ])
  })
}
