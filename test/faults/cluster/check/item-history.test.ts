import { describe, expect, test } from 'vitest'
import type { Operation } from '../load/recording.ts'
import { type FinalItem, registerOperations, wrongRecords } from './item-history.ts'
import { operation } from './planted.test-support.ts'

const publish = (id: string, begunMs: number, more = {}) =>
  operation({ id, kind: 'publish', value: id, begunMs, ...more })
const remove = (id: string, begunMs: number, more = {}) => operation({ id, kind: 'delete', begunMs, ...more })
const set = (
  id: string,
  expected: string | undefined,
  more: Pick<Operation, 'begunMs'> & Partial<Operation>,
) => operation({ id, kind: 'compare-and-set', value: id, expected, ...more })

/** `I1 U2 D3`: the records of the operations 1, 2 and 3. */
function final(text: string, present: string | undefined): FinalItem {
  const records = text.split(' ').filter(Boolean)
  return {
    item: 'a',
    records: records.map((each, at) => ({ id: at + 1, op: each[0]!, by: each.slice(1) })),
    present,
  }
}

describe('the history of an item', () => {
  test('may have every acknowledged write once, in the order of some', () => {
    const writes = [publish('1', 0), publish('2', 5), remove('3', 20), set('4', undefined, { begunMs: 40 })]
    expect(wrongRecords(writes, final('I1 U2 D3 I4', '4'))).toEqual([])
    expect(wrongRecords(writes, final('I2 U1 D3 I4', '4'))).toEqual([])
  })

  test('may lack a delete that found nothing, and what is unknown or refused', () => {
    const writes = [remove('1', 0), publish('2', 20, { outcome: 'unknown' })]
    expect(wrongRecords(writes, final('', undefined))).toEqual([])
    expect(wrongRecords(writes, final('I2', '2'))).toEqual([])
    expect(wrongRecords([publish('1', 0, { outcome: 'refused' })], final('', undefined))).toEqual([])
  })

  test('that lacks an acknowledged write is found', () => {
    expect(wrongRecords([publish('1', 0), publish('2', 20)], final('I2', '2'))).toHaveLength(1)
    expect(wrongRecords([set('1', undefined, { begunMs: 0 })], final('', undefined))).toHaveLength(1)
  })

  test('with two records of one write is found', () => {
    expect(wrongRecords([publish('1', 0)], final('I1 U1', '1'))).toHaveLength(1)
  })

  test('with a refused write, or one that nobody sent, is found', () => {
    expect(wrongRecords([publish('1', 0, { outcome: 'refused' })], final('I1', '1'))).toHaveLength(1)
    expect(wrongRecords([set('1', 'x', { begunMs: 0, outcome: 'changed' })], final('I1', '1'))).toHaveLength(
      2,
    )
    expect(wrongRecords([], final('I9', undefined))).toHaveLength(1)
  })

  test('against the order of time is found', () => {
    expect(wrongRecords([publish('1', 0), publish('2', 20)], final('I2 U1', '1'))).toHaveLength(1)
  })

  test('where a compare-and-set replaced something else is found', () => {
    const writes = [publish('1', 0), publish('2', 20), set('3', '1', { begunMs: 25 })]
    expect(wrongRecords(writes, final('I1 U2 U3', '3'))).toHaveLength(1)
  })

  test('that does not end with what is there is found', () => {
    expect(wrongRecords([publish('1', 0)], final('I1', undefined))).toHaveLength(1)
    expect(wrongRecords([publish('1', 0), remove('2', 20)], final('I1 D2', '1'))).toHaveLength(1)
  })

  test('whose ids do not rise is found', () => {
    const { records } = final('I1 U2', '2')
    const swapped = [
      { ...records[0]!, id: 2 },
      { ...records[1]!, id: 1 },
    ]
    const item = { item: 'a', records: swapped, present: '2' }
    expect(wrongRecords([publish('1', 0), publish('2', 20)], item)).toHaveLength(1)
  })
})

describe('what Porcupine gets', () => {
  test('is what was acknowledged, and of the unknown writes those with a record', () => {
    const unknown = { outcome: 'unknown' } as const
    const writes = [publish('1', 0), publish('2', 20, unknown), publish('3', 40, unknown)]
    const given = registerOperations(writes, final('I1 U2', '2'), [])
    expect(given.map(({ value, endedMs }) => [value, endedMs])).toEqual([
      ['1', 10],
      ['2', undefined],
    ])
  })

  test('has a delete without a record as a read of nothing, and a refused compare-and-set as one that found else', () => {
    const writes = [remove('1', 0), set('2', 'x', { begunMs: 20, outcome: 'changed' })]
    expect(registerOperations(writes, final('', undefined), [])).toMatchObject([
      { kind: 'read', seen: null },
      { kind: 'compare-and-set', changed: false },
    ])
  })
})
