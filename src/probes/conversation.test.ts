import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDeadline } from './conversation.ts'

test('a deadline expires once, and not after it is cancelled', async () => {
  let expired = 0
  startDeadline(10, () => expired++)
  startDeadline(10, () => expired++)()
  // It starts again if this process is paused.
  await expect.poll(() => expired).toBe(1)
  await sleep(60)
  expect(expired).toBe(1)
})

test('a deadline starts again if this process was paused', async () => {
  let expired = 0
  startDeadline(40, () => expired++)
  blockFor(200)
  await sleep(15)
  expect(expired).toBe(0)
  await sleep(80)
  expect(expired).toBe(1)
})

function blockFor(durationMs: number): void {
  const end = performance.now() + durationMs
  while (performance.now() < end);
}
