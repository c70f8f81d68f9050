import { expect, test } from 'vitest'
import { ClientMemory, watchedBytes } from './client-memory.ts'

test('memory is taken up to the limit, and is there again when it was given back', () => {
  const memory = new ClientMemory(100)
  expect([memory.take(60), memory.take(41), memory.take(40)]).toEqual([true, false, true])
  memory.free(60)
  expect(memory.bytes).toBe(40)
  expect(memory.take(60)).toBe(true)
})

test('what only informs people is forgotten before what saves time, and for it', () => {
  const memory = new ClientMemory(100)
  const kept = { saving: 40, informing: 60 }
  const forgets = (kind: keyof typeof kept) => () => {
    memory.free(kept[kind])
    const isThere = kept[kind] > 0
    kept[kind] = 0
    return isThere
  }
  memory.joinRemembering(forgets('saving'))
  memory.joinInforming(forgets('informing'))
  for (const bytes of Object.values(kept)) memory.takeSpare(bytes)
  expect([memory.takeSpare(1), kept]).toEqual([false, { saving: 40, informing: 60 }])
  expect([memory.takeSaving(60), kept]).toEqual([true, { saving: 40, informing: 0 }])
  expect([memory.takeSaving(1), kept]).toEqual([false, { saving: 40, informing: 0 }])
  expect([memory.take(40), kept]).toEqual([true, { saving: 0, informing: 0 }])
})

test('a longer name, or one beyond Latin-1, takes more', () => {
  expect(watchedBytes('n'.repeat(400))).toBeGreaterThan(watchedBytes('n') + 750)
  expect(watchedBytes('→'.repeat(400))).toBeGreaterThan(watchedBytes('n') + 1_500)
})
