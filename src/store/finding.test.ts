import { expect, test } from 'vitest'
import { Findings } from './finding.ts'

test('all findings are counted, and the first thousand of each group are kept', () => {
  const findings = new Findings()
  for (let at = 0; at < 1_500; at++) findings.damage(`place ${at}`, { problem: 'p', effect: 'e' })
  findings.note('somewhere', { problem: 'p', effect: 'e' })
  expect(findings.counts).toEqual({ damage: 1_500, notes: 1 })
  expect(findings.kept).toHaveLength(1_001)
  expect(findings.kept[0]).toMatchObject({ severity: 'damage', place: 'place 0' })
})

test('notes hide no damage', () => {
  const findings = new Findings()
  for (let at = 0; at < 1_500; at++) findings.note(`note ${at}`, { problem: 'p', effect: 'e' })
  for (let at = 0; at < 1_500; at++)
    findings.damage(`place ${at}`, { problem: 'p', effect: 'e', leavesOut: 'the item' })
  expect(findings.kept.filter(({ leavesOut }) => leavesOut !== undefined)).toHaveLength(1_000)
  expect(findings.leftOut).toBe(1_500)
  findings.damage('index', { problem: 'p', effect: 'e' })
  expect(findings.kept.at(-1)).toMatchObject({ place: 'index' })
})
