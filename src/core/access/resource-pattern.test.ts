import { expect, test } from 'vitest'
import { refusalOf } from '../core.test-support.ts'
import { Refusal } from '../refusal.ts'
import { canonicalResource, readResourcePattern, resourcePatternOf } from './resource-pattern.ts'

test.each([
  ['dev:G:config/app.yaml', ['config', 'dev', 'G', 'app.yaml']],
  ['dev:G:naming/orders', ['naming', 'dev', 'G', 'orders']],
  ['dev:*:*', ['any', 'dev', '*', '*']],
  ['dev:G:*', ['any', 'dev', 'G', '*']],
  ['*:*:*', ['any', '*', '*', '*']],
  ['dev:G*:config/app-*', ['config', 'dev', 'G*', 'app-*']],
  // A group and a dataId may contain colons.
  ['dev:a:b:config/c:d', ['config', 'dev', 'a:b', 'c:d']],
  ['dev:a:b:*', ['any', 'dev', 'a:b', '*']],
  ['dev:config:config/config', ['config', 'dev', 'config', 'config']],
  // The name of a service may contain what looks like another split.
  ['dev:G:naming/a:config/b', ['naming', 'dev', 'G', 'a:config/b']],
  ['dev:G:naming/x:*', ['naming', 'dev', 'G', 'x:*']],
  // The empty namespace is public.
  [':G:config/d', ['config', 'public', 'G', 'd']],
  ['public:G:config/d', ['config', 'public', 'G', 'd']],
])('%s is split at its first colon, and where the kind is named first', (resource, expected) => {
  const pattern = readResourcePattern(resource)
  if (pattern.kind === 'metrics') throw new Error('this names no item')
  expect([pattern.kind, pattern.namespace.source, pattern.group.source, pattern.name.source]).toEqual(
    expected,
  )
})

const CUT_OFF = ['', '*', 'dev', 'dev:*', 'dev:G', 'dev:G:', 'dev::*', 'dev::config/d', 'dev:G:config/']
const OTHER_KINDS = ['dev:G:other/d', 'dev:config/d', 'operator', 'operator/metric']
const WRONG_SIGNS = ['dev:G:config/a b', 'dev:G:config/a\u0000', 'dev:G:config/a\u200b', 'dev :G:config/d']
const SPLIT_TWICE = [
  'dev:G/x:config/d',
  'd/v:G:config/d',
  'dev:G:config/a:naming/b',
  'dev:G:naming/G@@orders',
]
const TOO_LONG = `dev:G:config/${'a'.repeat(1024)}`
test.each([...CUT_OFF, ...OTHER_KINDS, ...WRONG_SIGNS, ...SPLIT_TWICE, TOO_LONG])(
  '%j is no resource',
  (resource) => {
    expect(resourcePatternOf(resource)).toBeUndefined()
    expect(refusalOf(() => readResourcePattern(resource))).toBe('invalid-parameter')
  },
)

test('the refusal names the parameter and the allowed values', () => {
  const read = () => readResourcePattern('dev')
  expect(read).toThrow(Refusal)
  expect(read).toThrow(/^resource must be <namespace>:<group>:config\/<dataId>, .*, but is "dev"\.$/)
})

test('the resource of monitoring names no item', () => {
  expect(readResourcePattern('operator/metrics')).toEqual({ kind: 'metrics' })
})

test('equal resources have one spelling', () => {
  const canonical = ['', 'public'].map((id) => canonicalResource(`${id}:G**:config/**a`))
  expect(canonical).toEqual(['public:G*:config/*a', 'public:G*:config/*a'])
  expect(canonicalResource('dev:G:naming/a:config/b')).toBe('dev:G:naming/a:config/b')
  expect(canonicalResource('dev:a:b:*')).toBe('dev:a:b:*')
  expect(canonicalResource('operator/metrics')).toBe('operator/metrics')
})
