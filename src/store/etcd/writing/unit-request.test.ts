import { describe, expect, test } from 'vitest'
import { MEMBER } from '../../../core/cluster/members/member-records.ts'
import { publishConfig } from '../../../core/config/commands/publish-config.ts'
import { at, livingState, ORDERS, publishing, registered } from '../../../core/core.test-support.ts'
import { Draft } from '../../../core/decisions/draft.ts'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { HistoryRecord } from '../../../core/config/state/history-record.ts'
import { historyIdOf } from '../../../core/decisions/stamps.ts'
import { GRAY } from '../../../core/config/state/gray-version.ts'
import { recordRemoved, recordSaved } from '../../../core/records/record-kind.ts'
import { State } from '../../../core/engine/state.ts'
import { Keys } from '../keys/keys.ts'
import { toJson } from '../keys/values.ts'
import { unitRequest } from './unit-request.ts'

const keys = new Keys('w/')
const KEY = configKey('public', 'G', 'a')
const origin = { decidedAt: 7, member: '10.0.0.1:1', index: 3 }

/** The changes of publishing a content of this size. */
function published(bytes: number) {
  const draft = new Draft(new State(at(0).wallMs))
  return publishConfig(publishing('', { content: Buffer.alloc(bytes) })).decide(draft, at(0)).changes
}

const stampKeyOf = (letter: string, rest = '') =>
  expect.stringMatching(new RegExp(`^w/${letter}/\\d{16}${rest}$`))

describe('the transaction of a unit', () => {
  test('names the chunks of a large content, and holds only while they are there', () => {
    const { compare, keys: written } = unitRequest(keys, { reads: [], changes: published(300_000) }, origin)
    expect(compare).toContainEqual({ key: stampKeyOf('x', '/000000'), of: 'create', is: '>', to: 0 })
    expect(written).toContainEqual(stampKeyOf('y'))
  })

  test('writes no key of a kind whose records are read one by one, and compares no such key', () => {
    const { keys: written } = unitRequest(keys, { reads: [], changes: [recordRemoved(GRAY, 'a', 1)] }, origin)
    expect(written).toHaveLength(1)
    const reads = [{ of: 'records', recordKind: GRAY.name }] as const
    expect(() => unitRequest(keys, { reads, changes: [] }, origin)).toThrow('A decision has read all records')
  })

  test('has no chunks for a small content', () => {
    const { compare, keys: written } = unitRequest(keys, { reads: [], changes: published(10) }, origin)
    expect([...written, ...compare.map(({ key }) => key)].filter((key) => /^w\/[xy]\//.test(key))).toEqual([])
  })

  test('holds only if nothing in the history of the item is as late', () => {
    const changes = [...published(1), ...published(2)]
    const { compare } = unitRequest(keys, { reads: [], changes }, origin)
    const ranges = compare.filter(({ end }) => end !== undefined)
    const key = 'w/w/public/G/a/'
    expect(ranges).toEqual([
      { key, end: expect.stringMatching(/^w\/w\/public\/G\/a\/\d{16}\0$/), of: 'create', is: '=', to: 0 },
    ])
  })

  test.each([
    ['has no record', 0, 0],
    ['has only those that the import knows', historyIdOf(40), 41],
    ['has none as late as this one', historyIdOf(90), 50],
  ])('with an imported record holds only if the history %s', (_case, afterId, firstLater) => {
    const record = { id: historyIdOf(50), key: KEY, content: Buffer.from('x') } as HistoryRecord
    const change = { kind: 'history-imported', record, afterId } as const
    const { compare } = unitRequest(keys, { reads: [], changes: [change] }, origin)
    const end = `${keys.of({ of: 'history', key: KEY, stamp: firstLater })}\0`
    expect(compare).toContainEqual({ key: keys.historyOf(KEY), end, of: 'create', is: '=', to: 0 })
  })

  test('writes a record once that it saves twice', () => {
    const save = (stamp: number) => recordSaved(GRAY, { id: 'a', value: {} as never, stamp })
    const { success } = unitRequest(keys, { reads: [], changes: [save(1), save(2)] }, origin)
    expect(success).toEqual([{ do: 'put', key: 'w/r/gray/a', value: Buffer.from('{"value":{},"stamp":2}') }])
  })

  test.each([
    ['whose registration over HTTP silence has ended', true],
    ['that is saved otherwise', undefined],
  ])('names an instance %s, and no other one', (_what, isSilence) => {
    const state = livingState()
    const { record } = registered(state)
    const saved = { kind: 'instance-saved', serviceKey: ORDERS, serviceSerial: 1, record } as const
    const change = { ...saved, healthy: true, beat: false, stamp: 1, ...(isSilence && { isSilence }) }
    const { success, keys: written } = unitRequest(keys, { reads: [], changes: [change] }, origin)
    const key = keys.of({ of: 'instance', service: ORDERS, address: record.address })
    const mark = { do: 'put', key: 'w/g/10.0.0.1:1/3', value: toJson([key]) }
    expect(success.slice(1)).toEqual(isSilence ? [mark] : [])
    expect(written).toHaveLength(success.length)
  })

  test('compares the members by their keys, and writes no such key', () => {
    const reads = [{ of: 'records', recordKind: MEMBER.name } as const]
    const { compare } = unitRequest(keys, { reads, changes: [] }, origin)
    expect(compare).toEqual([{ key: 'w/p/', end: 'w/p0', of: 'mod', is: '<', to: 8 }])
    const change = recordSaved(MEMBER, { id: 'x', value: {} as never, stamp: 1 })
    expect(() => unitRequest(keys, { reads, changes: [change] }, origin)).toThrow('not written by commands')
  })

  test('names the instances that it removes for silence', () => {
    const serviceKey = { namespaceId: 'public', groupedName: 'G@@s' }
    const removed = (port: number, reason: 'expired' | 'deregistered') => {
      const place = { ip: '10.0.0.9', port, cluster: 'C' }
      return { kind: 'instance-removed', serviceKey, address: place, serial: 0, reason, stamp: 1 } as const
    }
    const changes = [removed(1, 'expired'), removed(2, 'deregistered')]
    const { success } = unitRequest(keys, { reads: [], changes }, origin)
    const [note] = success.filter(({ do: what }) => what === 'put')
    expect(note).toMatchObject({ key: 'w/g/10.0.0.1:1/3' })
    const value = note?.do === 'put' ? Buffer.from(note.value).toString() : ''
    expect(JSON.parse(value)).toEqual(['w/i/public/G@@s/10.0.0.9/1/C'])
  })
})
