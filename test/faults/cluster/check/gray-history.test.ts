import { describe, expect, test } from 'vitest'
import { taggedKey } from '../load/gray-clients.ts'
import type { Kind, Operation } from '../load/recording.ts'
import { type FinalGrayItem, grayOperations, wrongGrayItem } from './gray-history.ts'
import { operation } from './planted.test-support.ts'

/** A write, as its kind and its id. Its id is also the published text. */
const write = (text: string, begunMs: number, more: Partial<Operation> = {}) => {
  const [kind, id] = text.split(' ') as [Kind, string]
  return operation({ id, kind, begunMs, ...(kind.startsWith('publish') ? { value: id } : {}), ...more })
}
const read = (seen: string | undefined, begunMs: number) =>
  operation({ id: `r${begunMs}`, kind: 'read', seen, begunMs })
const tagged = (seen: string | undefined, begunMs: number) => ({
  ...read(seen, begunMs),
  key: taggedKey('a'),
})

/** Records as texts: `g` for the gray version, the operation, and the id of the write. */
function item(records: string, formal?: string, ofTag = formal): FinalGrayItem {
  const all = records.split(' ').map((text, at) => {
    const [, gray, op = '', by = ''] = /^(g?)([IUD])(.*)$/.exec(text) ?? []
    return { id: at + 1, op, by, isGray: gray === 'g' }
  })
  return { item: 'a', records: all, formal, tagged: ofTag }
}

/** A formal version, a gray one, and its promotion. */
const PROMOTED = [write('publish 1', 0), write('publish-gray 2', 20), write('promote p', 40)]
const RECORDS = 'I1 gI2 Up gDp'

describe('the history of an item with a gray version', () => {
  test('is right where all views go on', () => {
    const reads = [read('1', 15), tagged('2', 35), read('1', 36), read('2', 55), tagged('2', 55)]
    expect(wrongGrayItem([...PROMOTED, ...reads], item(RECORDS, '2'))).toEqual([])
    const ends = [write('publish-gray 3', 60), write('stop s', 80), write('delete d', 100)]
    expect(wrongGrayItem([...PROMOTED, ...ends, tagged('2', 95)], item(`${RECORDS} gI3 gDs Dd`))).toEqual([])
  })

  test('may lack a write whose outcome is unknown, and one that found nothing', () => {
    const doubtful = [write('publish-gray 9', 50, { outcome: 'unknown' }), write('delete d', 55)]
    expect(wrongGrayItem([...doubtful, write('stop s', 70, { outcome: 'changed' })], item('')).length).toBe(1)
    const [first, second] = PROMOTED as [(typeof PROMOTED)[0], (typeof PROMOTED)[0]]
    expect(wrongGrayItem([first, second, ...doubtful.slice(0, 1)], item('I1 gI2', '1', '2'))).toEqual([])
  })

  test.each([
    ['a promotion without an end', item('I1 gI2 Up', '2')],
    ['an end of what is not there', item('I1 gI2 Up gDp gDp', '2')],
    ['an acknowledged write that is missing', item('I1 Up', '2')],
    ['a gray version that is left', item(RECORDS, '2', '1')],
    ['a record of nobody', item(`${RECORDS} gI7`, '2', '7')],
  ])('with %s is found', (_title, final) => {
    expect(wrongGrayItem(PROMOTED, final)).not.toEqual([])
  })

  test('with a refused write is found', () => {
    const refused = write('promote p', 40, { outcome: 'changed', said: '404' })
    expect(wrongGrayItem([...PROMOTED.slice(0, 2), refused], item(RECORDS, '2'))).toHaveLength(1)
  })

  test.each([
    ['the gray version after its end', tagged('3', 95), item(`${RECORDS} gI3 gDs`, '2')],
    ['the formal version behind a gray one', tagged('1', 35), item(`${RECORDS} gI3 gDs`, '2')],
    ['the formal version before the promotion', read('1', 55), item(`${RECORDS} gI3 gDs`, '2')],
    ['a gray version without the tag', read('3', 75), item(`${RECORDS} gI3 gDs`, '2')],
  ])('a client that sees %s is found', (_title, seen, final) => {
    const more = [write('publish-gray 3', 60), write('stop s', 80)]
    expect(wrongGrayItem([...PROMOTED, ...more, seen], final)).toHaveLength(1)
  })
})

test('a stop and a publish at once have no order but that which a client has seen', () => {
  const atOnce = [write('publish 4', 60, { endedMs: 90 }), write('stop s', 60, { endedMs: 90 })]
  const operations = [write('publish 1', 0), write('publish-gray 2', 20), ...atOnce]
  for (const records of ['I1 gI2 U4 gDs', 'I1 gI2 gDs U4']) {
    const final = item(records, '4')
    expect(wrongGrayItem([...operations, tagged('2', 65), tagged('1', 80), tagged('4', 95)], final)).toEqual(
      [],
    )
    expect(wrongGrayItem([...operations, tagged('4', 80), tagged('1', 95)], final)).toHaveLength(1)
  }
})

test('Porcupine gets what has happened, and who was answered that there was nothing', () => {
  const unknown = [
    write('publish-gray 3', 60, { outcome: 'unknown' }),
    write('stop s', 70, { outcome: 'unknown' }),
  ]
  const final = item(`${RECORDS} gI3`, '2', '3')
  const given = grayOperations([...PROMOTED, ...unknown], final, [read('2', 100), tagged('3', 100)])
  expect(given.map(({ kind, value, changed, endedMs }) => [kind, value, changed, endedMs])).toEqual([
    ['put', '1', null, 10],
    ['put-gray', '2', null, 30],
    ['promote', null, true, 50],
    ['put-gray', '3', null, undefined],
    ['read', null, null, 110],
    ['read-gray', null, null, 110],
  ])
})
