import { expect, test } from 'vitest'
import { recordRemoved, recordSaved } from '../core/records/record-kind.ts'
import { SWITCH } from '../core/switches/switch-records.ts'
import { outdatedSaves } from './outdated-saves.ts'

const save = (id: string) => recordSaved(SWITCH, { id, value: 'x' as never, stamp: 1 })

test('of several changes of a record the last counts, and a removal is always made', () => {
  const [a1, a2, b, gone, a3] = [save('a'), save('a'), save('b'), recordRemoved(SWITCH, 'a', 1), save('a')]
  expect([...outdatedSaves([a1, a2, b, gone, a3])]).toEqual([a2, a1])
  expect(outdatedSaves([b, a1]).size).toBe(0)
})
