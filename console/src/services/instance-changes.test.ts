import { expect, test } from 'vitest'
import type { Instance } from '../server/services.ts'
import { changesOf, metadataChange, type WantedChange } from './instance-changes.ts'

const instance = { weight: 1, enabled: true, metadata: { zone: 'a', rack: '1' } } as unknown as Instance
const nothing: WantedChange = { weight: undefined, enabled: undefined, set: {}, removed: [] }

test('only what differs is a change', () => {
  expect(changesOf(instance, nothing)).toEqual([])
  const same = { weight: 1, enabled: true, set: { zone: 'a' }, removed: ['none', 'toString'] }
  expect(changesOf(instance, same)).toEqual([])
  const wanted = { weight: 2, enabled: false, set: { zone: 'b', new: '1' }, removed: ['rack', 'new'] }
  expect(changesOf(instance, wanted)).toEqual([
    { what: 'weight', key: '', before: '1', after: '2' },
    { what: 'enabled', key: '', before: 'true', after: 'false' },
    { what: 'metadata', key: 'zone', before: 'a', after: 'b' },
    { what: 'metadata', key: 'new', before: undefined, after: '1' },
    { what: 'metadata', key: 'rack', before: '1', after: undefined },
  ])
})

test('a key that is not typed any more is removed', () => {
  expect(metadataChange({ a: '1', b: '2', c: '3' }, { a: '1', b: '4', d: '5' })).toEqual({
    set: { b: '4', d: '5' },
    removed: ['c'],
  })
})
