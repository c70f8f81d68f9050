import { describe, expect, test } from 'vitest'
import { item, name, outcomeOf, revision, sums } from './fake-rows.test-support.ts'
import type { AnyRow } from './store-rows.ts'

const SOUND = [name(1), item(1, 11), revision(1, 11), sums({ 1: 11 })]
const meta = (key: string, value: string): AnyRow => ({ table: 'meta', row: { name: key, value } })

describe('the rows of a repaired store', () => {
  test('are those of a sound one, and its counters stay as they are', () => {
    const { repaired, meta: set } = outcomeOf([...SOUND, meta('revision_floor', '5')])
    expect(repaired).toEqual([...SOUND, meta('revision_floor', '5')])
    expect([...set]).toEqual([])
  })

  test('come once each, though a damaged file has some of them twice', () => {
    const { repaired } = outcomeOf([...SOUND, ...SOUND], { broken: ['service'] })
    expect(repaired).toEqual(SOUND)
  })

  test('have the later one of two rows of an item', () => {
    const old = item(1, 9, { desc: 'old' })
    const { repaired } = outcomeOf([old, ...SOUND], { broken: ['service'] })
    expect(repaired.filter(({ table }) => table === 'config_item')).toEqual([item(1, 11)])
  })

  test('have the md5 that belongs to the content', () => {
    const wrong = revision(1, 11, { content: Buffer.from('two') })
    const { findings, repaired } = outcomeOf([name(1), item(1, 11), wrong, sums({ 1: 11 })])
    expect(findings).toMatchObject([{ place: 'waypost.db, table config_revision, row 11' }])
    expect(repaired[2]?.row).toMatchObject({ md5: 'b8a9f715dbb64fd5c56e7783c6820a61' })
  })

  test('leave out a record that its kind cannot read', () => {
    const record = (id: string, value: string): AnyRow => ({
      table: 'record',
      row: { recordKind: 'switch', id, value },
    })
    const { findings, repaired } = outcomeOf([record('checkTimes', '5'), record('pushEnabled', '"maybe"')])
    expect(findings.map(({ place }) => place)).toContain('waypost.db, table record, switch pushEnabled')
    expect(repaired).toEqual([record('checkTimes', '5')])
  })
})

test('a repair of a damaged store gives out no id and no time again', () => {
  const counters = [meta('revision_floor', '70'), meta('clock_high_ms', '3')]
  const { meta: set } = outcomeOf([...SOUND, ...counters], { broken: ['config_revision'] })
  expect(Number(set.get('revision_floor'))).toBeGreaterThan(70)
  expect(set.get('clock_high_ms')).toBe('4')
})
