import { expect, test } from 'vitest'
import { requireNotedMemory } from './stored-memory.ts'

const LIMITS = { heapBytes: 1_000, memoryBytes: 2_000, contentBytes: 1_000 }
const required = (noted: string | undefined): Promise<void> =>
  requireNotedMemory({ recall: async () => noted }, LIMITS)

test('a start is refused for data that do not fit', async () => {
  await expect(required('{"heap":5000,"external":0}')).rejects.toThrow(/on the heap/)
  await expect(required('{"heap":900,"external":5000}')).rejects.toThrow(/of memory/)
  await expect(required('{"heap":900,"external":900}')).resolves.toBeUndefined()
})

test.each(['', '{', 'null', '[]', '{"heap":9e15,"external":0}', '{"heap":-1,"external":0}', '{"heap":"1"}'])(
  'a note that is damaged says nothing of the data: %s',
  async (noted) => {
    await expect(required(noted)).resolves.toBeUndefined()
  },
)
