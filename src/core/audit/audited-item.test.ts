import { expect, test } from 'vitest'
import type { Resource } from '../access/resource.ts'
import { configKey } from '../config/state/config-item.ts'
import { MOST_ITEM_CHARACTERS } from './audit-event.ts'
import {
  auditedItem,
  auditedItems,
  itemOfNames,
  MOST_NAMES,
  namesOf,
  shortItem,
  withOneName,
} from './audited-item.ts'

const config = (dataId: string): Resource => ({ kind: 'config', key: configKey('dev', 'G', dataId) })

test.each<[string, Resource]>([
  ['dev:G:config/app.yaml', config('app.yaml')],
  ['dev:G:naming/orders', { kind: 'service', key: { namespaceId: 'dev', groupedName: 'G@@orders' } }],
  ['dev:*:*', { kind: 'namespace', namespaceId: 'dev' }],
  ['dev:*:config/*', { kind: 'some-configs', namespaceId: 'dev' }],
  ['*:*:naming/*', { kind: 'some-services', namespaceId: undefined }],
  ['*:*:*', { kind: 'some-namespaces' }],
  ['operator', { kind: 'operator' }],
  ['access', { kind: 'access' }],
])('%s names the resource', (text, resource) => {
  expect(auditedItem([resource])).toBe(text)
})

test('the item that an operation names comes after the resource', () => {
  expect(auditedItem([{ kind: 'operator' }], 'pushEnabled')).toBe('operator/pushEnabled')
  expect(auditedItem([], 'pushEnabled')).toBe('pushEnabled')
})

test('of several resources each is named', () => {
  const item = auditedItem([config('a'), config('b'), config('c')])
  expect(auditedItems(item)).toEqual({
    names: ['dev:G:config/a', 'dev:G:config/b', 'dev:G:config/c'],
    left: [],
    count: 3,
  })
  expect(shortItem(item)).toBe('dev:G:config/a and 2 more')
  expect(auditedItems(auditedItem([config('+5')])).names).toEqual(['dev:G:config/+5'])
  expect(auditedItems('')).toEqual({ names: [], left: [], count: 0 })
})

test('the names of an event are bounded, and the others are counted', () => {
  const item = auditedItem(Array.from({ length: 1_000 }, (_, index) => config(`item-${index}`)))
  const { names, count } = auditedItems(item)
  expect([names.length, count]).toEqual([MOST_NAMES, 1_000])
  expect(shortItem(item)).toBe('dev:G:config/item-0 and 999 more')
  const wide = auditedItem(Array.from({ length: 1_000 }, () => config('日'.repeat(250))))
  expect(Buffer.byteLength(wide)).toBeLessThan(9_000)
  expect(auditedItems(wide).count).toBe(1_000)
})

test('what was left as it was is marked, and others do not drive it out', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => config(`item-${index}`))
  const few = [config('kept'), 'id 12']
  const of = (changed: readonly Resource[], left: readonly (Resource | string)[]) =>
    itemOfNames({ changed: namesOf(changed, (one) => one), left: namesOf(left, (one) => one) })
  expect(auditedItems(of([config('a')], few))).toEqual({
    names: ['dev:G:config/a', 'dev:G:config/kept', 'id 12'],
    left: ['dev:G:config/kept', 'id 12'],
    count: 3,
  })
  expect(shortItem(of([config('a')], few))).toBe('dev:G:config/a and 2 more')
  expect(shortItem(of([], ['id 12']))).toBe('id 12')
  const { names, left, count } = auditedItems(of(many, few))
  expect([names.length, left, count]).toEqual([MOST_NAMES, ['dev:G:config/kept', 'id 12'], 1_002])
  expect(auditedItems(withOneName(of([], few)))).toEqual({
    names: ['dev:G:config/kept'],
    left: ['dev:G:config/kept'],
    count: 2,
  })
  expect(shortItem(withOneName(of(many, few)))).toBe('dev:G:config/item-0 and 1001 more')
  const both = auditedItems(of(many, many))
  expect([both.names.length, both.left.length, both.count]).toEqual([MOST_NAMES, MOST_NAMES / 2, 2_000])
})

test('an item has a bounded length, and one line', () => {
  const long = 'x'.repeat(10_000)
  expect(auditedItem([config(long)])).toHaveLength(MOST_ITEM_CHARACTERS)
  const several = auditedItem([config(long), config('b')], long)
  expect(auditedItems(several).names).toEqual([expect.stringMatching(/x…$/), 'dev:G:config/b'])
  expect(auditedItem([], 'a\nb')).toBe('a b')
})
