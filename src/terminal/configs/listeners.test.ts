import { expect, test } from 'vitest'
import type { Watcher } from '../answers.ts'
import { presentListeners } from './listeners.ts'

const NOW_MS = 1_800_000_000_000

test.each([
  ['a poll that is held for long', { listens: true, lastSeenMs: NOW_MS - 25_000 }, true],
  ['a poll that was answered a moment ago', { listens: false, lastSeenMs: NOW_MS - 900 }, true],
  ['a poll that was answered too long ago', { listens: false, lastSeenMs: NOW_MS - 5_000 }, false],
  [
    'one that had the newest text before it left',
    { listens: false, lastSeenMs: NOW_MS - 30_000, has: 'formal' },
    false,
  ],
] as const)('a put that waits waits for %s: %j %j', (_title, said, isMeant) => {
  const watchers = [said as unknown as Watcher]
  expect(presentListeners({ nowMs: NOW_MS, watchers })).toEqual(isMeant ? watchers : [])
})
