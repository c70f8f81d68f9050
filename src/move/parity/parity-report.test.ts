import { expect, test } from 'vitest'
import { OldServer } from '../old/old-server.ts'
import { Pace } from '../old/pace.ts'
import type { Side } from './read-side.ts'
import { type Findings, parityResult } from './parity-report.ts'

const NOTE = {
  kind: 'cannot-come',
  about: 'config (old)',
  name: 'public/G/\u001b[2Ja',
  reason: 'it answers 500',
} as const
const DIFFERENCE = { kind: 'config', name: 'public/G/a', field: 'desc', old: 'x\ny', new: 'z'.repeat(200) }

function sideOf(which: Side['which']): Side {
  const server = new OldServer('http://there/nacos', {
    pace: new Pace(1),
    account: undefined,
    waiting: (_what, work) => work,
  })
  return {
    which,
    first: { server, kind: 'java-1', version: '1.4.8' },
    things: new Map(),
    items: new Map(),
    services: new Map(),
    clusters: new Map(),
    mixed: new Set(),
    notCompared: [],
    failed: [],
  }
}

function findings(more: Partial<Findings>): Findings {
  const sides = { old: sideOf('old'), new: sideOf('new') }
  return { sides, rows: [], failed: [], notCompared: [], ...more }
}

test('the exit code says whether servers are equal, differ, or could not be compared', () => {
  const row = { kind: 'config', old: 1, new: 1, differences: [DIFFERENCE] }
  expect(parityResult(findings({})).code).toBe(0)
  expect(parityResult(findings({ notCompared: [NOTE] })).code).toBe(0)
  expect(parityResult(findings({ failed: [NOTE] })).code).toBe(2)
  expect(parityResult(findings({ rows: [row], failed: [NOTE] })).code).toBe(1)
})

test('texts of others are short and safe to print, and not all of many lines are printed', () => {
  const differences = Array.from({ length: 30 }, () => DIFFERENCE)
  const { text = '', json } = parityResult(
    findings({ rows: [{ kind: 'config', old: 30, new: 30, differences }], failed: [NOTE] }),
  )
  expect(text).toContain(`differs: config public/G/a: desc: "x\\ny" (old), "${'z'.repeat(100)}…" (new)\n`)
  expect(text).toContain('… and 10 more: config (--output json has all)\n')
  expect(text).toContain('not found out: config (old) public/G/\\x1b[2Ja: it answers 500\n')
  expect(text).toMatch(/\n30 differences\n$/)
  expect(json).toMatchObject({ result: 'differs', differences: { length: 30 } })
})
