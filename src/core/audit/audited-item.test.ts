import { expect, test } from 'vitest'
import type { Resource } from '../access/resource.ts'
import { configKey } from '../config/state/config-item.ts'
import { MOST_ITEM_CHARACTERS } from './audit-event.ts'
import { auditedItem } from './audited-item.ts'

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

test('of several resources the first is named, and the others are counted', () => {
  expect(auditedItem([config('a'), config('b'), config('c')])).toBe('dev:G:config/a and 2 more')
})

test('an item has a bounded length', () => {
  const long = 'x'.repeat(10_000)
  expect(auditedItem([config(long)])).toHaveLength(MOST_ITEM_CHARACTERS)
  const several = auditedItem([config(long), config('b')], long)
  expect(several).toHaveLength(MOST_ITEM_CHARACTERS)
  expect(several).toMatch(/x… and 1 more$/)
})
