/** An old server that answers 200 and something else: an empty object, or an error in an envelope. Nothing may be missing without a line. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import type { PlanNote } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { runWaypost } from '../support/waypost.ts'
import { type RecordedVersion, ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const BODIES = [
  ['an empty object', '{}'],
  ['an empty list', '[]'],
  ['an error in an envelope', '{"code":500,"message":"the database is away","data":null}'],
  ['a page of HTML', '<html></html>'],
] as const

/** Calls that fail in one plan, and what lacks without each. */
const CALLS: readonly (readonly [RecordedVersion, Readonly<Record<string, string>>])[] = [
  [
    '2.5.1',
    {
      '/v1/cs/configs?beta=true': 'gray public/G/sh.x',
      '/v1/cs/history?search=': 'history public/G/sh.x',
      '/v1/ns/catalog/instances': 'instance public/',
      '/v1/ns/operator/switches': 'switch all',
      '/v1/auth/users': 'user users, roles and permissions',
    },
  ],
  [
    '2.5.1',
    {
      '/v1/cs/history?nid=': 'history public/G/sh.x ',
      '/v1/ns/catalog/service?': 'service public/',
      '/v1/auth/permissions': 'user users, roles and permissions',
    },
  ],
  ['2.5.1', { '/v1/cs/configs?show=all': 'config public/G/sh.x' }],
  [
    '2.5.1',
    {
      '/v1/cs/configs?search=': 'config items of public',
      '/v1/ns/catalog/services': 'service services of public',
    },
  ],
  [
    '3.0.3-admin',
    {
      '/v3/admin/cs/config/beta': 'gray public/G/sh.x',
      '/v3/admin/cs/history/list': 'history public/G/sh.x',
      '/v3/admin/ns/instance/list': 'instance public/',
      '/v3/admin/ns/ops/switches': 'switch all',
      '/v3/auth/user/list': 'user users, roles and permissions',
    },
  ],
  [
    '3.0.3-admin',
    {
      '/v3/admin/cs/config?': 'config public/G/sh.x',
      '/v3/admin/ns/service?': 'service public/',
      '/v3/auth/role/list': 'user users, roles and permissions',
    },
  ],
  [
    '3.0.3-admin',
    {
      '/v3/admin/cs/config/list': 'config items of public',
      '/v3/admin/ns/service/list': 'service services of public',
    },
  ],
]

const running: ReplayOfRecordedAnswers[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((replay) => replay.stop()))
})

async function planWith(version: RecordedVersion, calls: readonly string[], body: string) {
  const replay = await ReplayOfRecordedAnswers.start(version)
  running.push(replay)
  for (const call of calls) replay.instead.set(call, () => ({ status: 200, body }))
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'shapes-')), 'plan')
  const args = ['--from', replay.url, '--ephemeral', '--rate', '10000']
  const made = await runWaypost(['move', ...args, '--plan', file])
  const texts = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  const lines = texts.map((text, index) => readPlanLine(text, index + 1))
  return { ...made, missed: lines.flatMap((line) => ('missed' in line && line.missed ? [nameOf(line)] : [])) }
}

const nameOf = ({ about, name }: PlanNote): string => `${about} ${name}`

describe.each(BODIES)('an old server that answers %s', (_, body) => {
  test.each(CALLS)('of %s has a line for each thing that lacks: %o', async (version, lacking) => {
    const { code, missed, stderr } = await planWith(version, Object.keys(lacking), body)
    expect({ code, stderr }).toMatchObject({ code: 1 })
    for (const name of Object.values(lacking))
      expect(
        missed.filter((one) => one.startsWith(name)),
        `${name}\n${missed.join('\n')}`,
      ).not.toEqual([])
  })

  test.each([
    ['2.5.1', '/v1/console/namespaces'],
    ['3.0.3-admin', '/v3/admin/core/namespace/list'],
  ] as const)('of %s to %s makes no plan', async (version, call) => {
    const { code, stdout } = await planWith(version, [call], body)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
