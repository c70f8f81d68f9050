import { expect, test } from 'vitest'
import { sentenceOf } from './sentences.ts'

test.each([
  ['*:*:*', 'rw', 'May read and write everything in every namespace.'],
  [':*:*', 'r', 'May read everything in public.'],
  [
    'prod:SHOP:config/app-*',
    'w',
    'May write configurations named app-* of the group SHOP in prod, and not read them.',
  ],
  ['prod:*:naming/*', 'rw', 'May read and write all services in prod.'],
  ['dev-*:*:config/*', 'r', 'May read all configurations in namespaces like dev-*.'],
] as const)('%s %s', (resource, action, sentence) => {
  expect(sentenceOf({ resource, action }, (id) => id || 'public')).toBe(sentence)
})
