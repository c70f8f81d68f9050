import { expect, test } from 'vitest'
import type { Operation } from '../load/recording.ts'
import { operation } from './planted.test-support.ts'
import { readsThatGoBack, versionsOfOwned } from './sessions.ts'

const register = (value: string, begunMs: number, more = {}) =>
  operation({ id: `w${value}`, kind: 'register', value, begunMs, ...more })
const deregister = (begunMs: number, more = {}) =>
  operation({ id: `d${begunMs}`, kind: 'deregister', begunMs, ...more })
const list = (seen: string | undefined, begunMs: number, more = {}) =>
  operation({ id: `r${begunMs}`, kind: 'list', seen, begunMs, ...more })

function found(...operations: Operation[]): number {
  return readsThatGoBack(operations, 'a', versionsOfOwned(operations, 'a')).length
}

const writes = [register('1', 0), register('2', 20), deregister(40), register('3', 60)]

test('reads that follow the writes are right', () => {
  expect(found(...writes, list(undefined, -20), list('1', 11), list('2', 31), list('3', 80))).toBe(0)
  expect(found(...writes, list('1', 15), list('2', 16), list('3', 65))).toBe(0)
})

test('another server may be behind, and forgets nothing that it has shown', () => {
  const there = { server: 1 }
  expect(found(...writes, list('1', 80, there), list(undefined, 100, there), list('3', 120, there))).toBe(0)
  expect(found(...writes, list('2', 80, there), list('1', 100, there))).toBe(1)
})

test('a server that does not show what it has acknowledged is found', () => {
  expect(found(...writes, list('1', 31))).toBe(1)
  expect(found(...writes, list(undefined, 80))).toBe(1)
})

test('a value that nobody wrote is found', () => {
  expect(found(...writes, list('9', 80))).toBe(1)
})

test('a write without an answer may be seen, or not', () => {
  const unknown = register('4', 80, { outcome: 'unknown' })
  expect(found(...writes, unknown, list('4', 100), list('3', 120))).toBe(0)
})
