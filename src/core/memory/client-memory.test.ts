import { expect, test } from 'vitest'
import { ClientMemory, watchedBytes } from './client-memory.ts'

test('memory is taken up to the limit, and is there again when it was given back', () => {
  const memory = new ClientMemory(100)
  expect([memory.take(60), memory.take(41), memory.take(40)]).toEqual([true, false, true])
  memory.free(60)
  expect(memory.bytes).toBe(40)
  expect(memory.take(60)).toBe(true)
})

test('a longer name, or one beyond Latin-1, takes more', () => {
  expect(watchedBytes('n'.repeat(400))).toBeGreaterThan(watchedBytes('n') + 750)
  expect(watchedBytes('→'.repeat(400))).toBeGreaterThan(watchedBytes('n') + 1_500)
})
