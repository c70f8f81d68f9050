import { expect, test } from 'vitest'
import { causeKey } from './cause-key.ts'

test.each([
  ['registered', 'connection', 'cause.connected'],
  ['registered', 'registration', 'cause.registration'],
  ['removed', 'connection', 'cause.connection'],
  ['removed', 'registration', 'cause.replaced'],
] as const)('the cause of %s by %s is %s', (kind, cause, key) => {
  expect(causeKey(kind, cause)).toBe(key)
})
