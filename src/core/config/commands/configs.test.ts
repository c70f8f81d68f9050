import { array, assert, constantFrom, integer, property, record, string } from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { at, carryOut, published, publishing, refusalOf, WALL_MS } from '../../core.test-support.ts'
import { historyIdOf, isItemId, itemIdOf, stampOfId } from '../../decisions/stamps.ts'
import { State } from '../../engine/state.ts'
import { configKey } from '../state/config-item.ts'
import { deleteConfig, publishConfig } from './publish-config.ts'
import { type ConfigSearch, matchingConfigs } from '../state/search-configs.ts'

const KEY = publishing('').key
const keyOf = (dataId: string) => configKey(KEY.namespaceId, KEY.group, dataId)
const BY = { ip: '10.9.9.9', user: null }
const changesOf = (state: State, content: string, other = {}) =>
  publishConfig(publishing(content, other)).decide(state, at(0)).changes

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

describe('publishing', () => {
  test('creates an item, then versions with the same id and creation time', () => {
    const first = published(state, 'one', KEY)
    carryOut(
      state,
      publishConfig(publishing('two', { operator: { ip: '10.1.1.1', user: 'ann' } })),
      at(1_000),
    )
    const second = state.config(KEY)
    expect(second?.origin).toBe(first.origin)
    expect(second?.origin).toMatchObject({ createdMs: WALL_MS, createIp: '10.9.9.9' })
    expect(second?.historyId).toBeGreaterThan(first.historyId)
    expect(second?.modifiedMs).toBe(WALL_MS + 1_000)
    expect(state.configs.getById(first.origin.id)).toBe(second)
  })

  test('the stored content again changes nothing', () => {
    carryOut(state, publishConfig(publishing('one', { type: 'json', notes: { desc: 'd' } })), at(0))
    expect(changesOf(state, 'one')).toEqual([])
    expect(changesOf(state, 'one', { type: 'json', notes: { desc: 'd' } })).toEqual([])
  })

  test('another type, note or text is a new version, and other fields stay', () => {
    carryOut(
      state,
      publishConfig(publishing('one', { type: 'json', notes: { desc: 'd', configTags: 'a,b' } })),
      at(0),
    )
    for (const other of [{ type: 'xml' }, { notes: { desc: 'other' } }, { notes: { desc: null } }]) {
      expect(changesOf(state, 'one', other)).toHaveLength(1)
    }
    carryOut(state, publishConfig(publishing('two', { notes: { desc: 'e' } })), at(0))
    expect(state.config(KEY)).toMatchObject({
      type: 'json',
      notes: { desc: 'e', configTags: 'a,b', appName: '' },
    })
  })

  test('a text of the same md5 but other bytes is another text', () => {
    carryOut(state, publishConfig(publishing('one', { md5: 'same' })), at(0))
    expect(changesOf(state, 'two', { md5: 'same' })).toHaveLength(1)
  })

  test('with casMd5 succeeds only if it is the current md5', () => {
    const code = (casMd5: string) =>
      refusalOf(() => carryOut(state, publishConfig(publishing(casMd5, { casMd5 })), at(0)))
    expect(code('other')).toBe('config-changed')
    expect(code('')).toBeUndefined()
    expect(code('')).toBe('config-changed')
    expect(code('md5 of ')).toBeUndefined()
  })

  test('never sets an earlier time', () => {
    published(state, 'one', KEY)
    carryOut(state, publishConfig(publishing('two')), at(-5_000))
    expect(state.config(KEY)?.modifiedMs).toBe(WALL_MS)
    const [change] = deleteConfig(KEY, BY).decide(state, at(-5_000)).changes
    expect(change).toMatchObject({ kind: 'config-deleted', atMs: WALL_MS })
  })
})

test('deleting answers true, also for unknown items, and a later publish creates a new item', () => {
  expect(carryOut(state, deleteConfig(KEY, BY), at(0))).toBe(true)
  const first = published(state, 'one', KEY)
  expect(carryOut(state, deleteConfig(KEY, BY), at(0))).toBe(true)
  expect([
    state.configs.size,
    state.configs.countIn('public'),
    state.configs.getById(first.origin.id),
  ]).toEqual([0, 0, undefined])
  expect(published(state, 'one', KEY).origin.id).toBeGreaterThan(first.historyId)
})

test('ids of items and of history records come from one sequence and never meet', () => {
  assert(
    property(integer({ min: 1, max: 2 ** 52 - 2 }), (stamp) => {
      expect(isItemId(itemIdOf(stamp))).toBe(true)
      expect(isItemId(historyIdOf(stamp))).toBe(false)
      expect(historyIdOf(stamp)).toBeGreaterThan(itemIdOf(stamp))
      expect(itemIdOf(stamp + 1)).toBeGreaterThan(historyIdOf(stamp))
      expect([itemIdOf(stamp), historyIdOf(stamp)].map(stampOfId)).toEqual([stamp, stamp])
    }),
  )
})

test('a publish takes its ids from the stamp of its decision', () => {
  const decide = (stamp: number) => publishConfig(publishing('a')).decide(state, { ...at(0), stamp }).changes
  expect(decide(7)).toMatchObject([{ item: { origin: { id: 14 }, historyId: 15 } }])
  expect(decide(8)).toMatchObject([{ item: { origin: { id: 16 }, historyId: 17 } }])
})

describe('a search', () => {
  const anything: ConfigSearch = {
    namespaceId: 'public',
    mode: 'blur',
    dataId: '',
    group: '',
    appName: '',
    configTags: '',
    types: [],
  }
  const found = (state: State, search: Partial<ConfigSearch>) => {
    const items = matchingConfigs(state.configs, { ...anything, ...search })
    return { totalCount: items.length, names: items.map(({ key }) => key.dataId) }
  }

  test('gives * its meaning, for any other characters in the pattern', () => {
    const word = string({ unit: constantFrom('a', 'b', '.', '+', '('), minLength: 1, maxLength: 8 })
    const pattern = string({ unit: constantFrom('a', 'b', '.', '+', '(', '*', '*'), maxLength: 8 })
    assert(
      property(array(word, { maxLength: 6 }), pattern, (names, dataId) => {
        const state = new State(WALL_MS)
        for (const name of names) published(state, 'x', keyOf(name))
        const unique = [...new Set(names)]
        const expected = unique.filter((name) => dataId === '' || matchesPlainly(dataId, name))
        expect(found(state, { dataId }).names).toEqual(expected)
        expect(found(state, { dataId, mode: 'accurate' }).names).toEqual(
          unique.filter((name) => dataId === '' || dataId === name),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('for one item by both names finds the same as a walk over all items', () => {
    for (const dataId of ['a', 'b', 'a*']) {
      published(state, 'x', configKey('public', 'G', dataId))
      published(state, 'x', configKey('dev', 'H', dataId))
    }
    const names = constantFrom('a', 'b', 'c', 'a*', '*')
    const searches = record({
      namespaceId: constantFrom('public', 'dev', 'none'),
      mode: constantFrom('accurate' as const, 'blur' as const),
      dataId: names,
      group: constantFrom('G', 'H', '*', 'g'),
      types: constantFrom([], ['text'], ['json']),
    })
    assert(
      property(searches, ({ dataId, ...search }) => {
        const walked = found(state, { ...search, dataId: '' }).names.filter((name) =>
          search.mode === 'blur' ? matchesPlainly(dataId, name) : name === dataId,
        )
        expect(found(state, { ...search, dataId }).names).toEqual(walked)
      }),
    )
  })

  test('takes no more than linear time', () => {
    published(state, 'x', keyOf('a'.repeat(5_000)))
    expect(found(state, { dataId: `${'a*'.repeat(2_000)}b` }).totalCount).toBe(0)
  })

  test('without parameters finds everything, oldest first', () => {
    const names = ['d2', 'd0', 'd1']
    for (const dataId of names) published(state, 'x', keyOf(dataId))
    published(state, 'y', keyOf('d2'))
    expect(found(state, {})).toEqual({ totalCount: 3, names })
  })

  test('knows namespace, group, application, tags and types', () => {
    const put = (dataId: string, other: object) =>
      carryOut(state, publishConfig(publishing('x', { key: keyOf(dataId), ...other })), at(0))
    put('one', { notes: { appName: 'shop', configTags: 'red,blue' }, type: 'json' })
    put('two', { notes: { configTags: 'red' }, type: 'yaml' })
    put('three', { key: configKey('dev', 'H', 'three') })
    expect(found(state, { configTags: 'blue,red' }).names).toEqual(['one'])
    expect(found(state, { configTags: 'red,' }).names).toEqual(['one', 'two'])
    expect(found(state, { configTags: 're' }).names).toEqual([])
    expect(found(state, { appName: 'sh*' }).names).toEqual(['one'])
    expect(found(state, { types: ['json', 'xml'] }).names).toEqual(['one'])
    expect(found(state, { group: 'H' }).names).toEqual([])
    expect(found(state, { namespaceId: 'dev', group: '*' }).names).toEqual(['three'])
  })
})

function matchesPlainly(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern.startsWith('*')) {
    return matchesPlainly(pattern.slice(1), text) || (text !== '' && matchesPlainly(pattern, text.slice(1)))
  }
  return text.startsWith(pattern.charAt(0)) && matchesPlainly(pattern.slice(1), text.slice(1))
}
