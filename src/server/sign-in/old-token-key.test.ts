import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { AuditEntry } from '../../core/audit/audit-event.ts'
import { at, WALL_MS } from '../../core/core.test-support.ts'
import { openOldTokenKey } from './old-token-key.ts'

const DAY_MS = 86_400_000
const log = pino({ enabled: false })
const directory = mkdtempSync(join(tmpdir(), 'old-token-'))
const file = join(directory, 'secret')
afterAll(() => rmSync(directory, { recursive: true }))

let kept: Map<string, string>
let entries: AuditEntry[]
let nowMs: number
beforeEach(() => {
  kept = new Map()
  entries = []
  nowMs = 0
  writeFileSync(file, `${Buffer.alloc(32, 5).toString('base64')}\n`)
})

const parts = () => ({
  clock: () => at(nowMs),
  trail: { record: (entry: AuditEntry) => void entries.push(entry), tallyOf: () => ({ count: 0 }) },
  store: {
    recall: async (name: string) => kept.get(name),
    remember: async (name: string, value: string) => void kept.set(name, value),
  },
})
const open = (until: string, secret = file) =>
  openOldTokenKey(parts(), { acceptTokenSecret: secret, acceptTokenUntil: until }, log)
const timeAt = (ms: number) => new Date(WALL_MS + ms).toISOString()

test('without the settings there is no key', async () => {
  expect(await open('', '')).toBeUndefined()
  expect(entries).toEqual([])
})

test('a key is accepted until its time, and the audit says so, without the secret', async () => {
  const until = timeAt(7 * DAY_MS)
  expect(await open(until)).toMatchObject({ untilMs: WALL_MS + 7 * DAY_MS })
  expect(entries).toMatchObject([{ operation: 'accept old tokens', item: `until ${until}` }])
  nowMs = 7 * DAY_MS
  expect(await open(until)).toBeUndefined()
  expect(entries).toHaveLength(1)
})

test('it is accepted since the first start with it, until its time is over', async () => {
  const since: number[] = []
  for (const [ms, untilMs] of [
    [0, DAY_MS],
    [1_000, 2 * DAY_MS],
    [DAY_MS + 5, 3 * DAY_MS],
    [4 * DAY_MS, 5 * DAY_MS],
  ] as const) {
    nowMs = ms
    since.push((await open(timeAt(untilMs)))!.sinceStamp)
  }
  expect(new Set(since.slice(0, 3)).size).toBe(1)
  expect(since[3]).toBeGreaterThan(since[0]!)
})

test.each(['', '{', 'null', '{}', '{"sinceStamp":9e15,"untilMs":1}', '{"sinceStamp":"x","untilMs":1}'])(
  'a start is refused while the kept acceptance is %s, and is as before without it',
  async (text) => {
    kept.set('old-tokens', text)
    await expect(open(timeAt(DAY_MS))).rejects.toThrow(/old-tokens is damaged: remove it/)
    expect(kept.get('old-tokens')).toBe(text)
    kept.clear()
    expect(await open(timeAt(DAY_MS))).toMatchObject({ untilMs: WALL_MS + DAY_MS })
  },
)

test.each([
  ['both', timeAt(DAY_MS), ''],
  ['both', '', file],
  ['at most 7 days', timeAt(7 * DAY_MS + 1), file],
  ['a time with its zone', '2027-01-20', file],
  ['a time with its zone', '2027-99-99T00:00:00Z', file],
  ['a time with its zone', '2027-02-30T00:00:00Z', file],
  ['file of accept-token-secret cannot be read: ENOENT', timeAt(DAY_MS), join(directory, 'none')],
  ['file of accept-token-secret cannot be read: EISDIR', timeAt(DAY_MS), directory],
])('a start is refused with %s', async (message, until, secret) => {
  await expect(open(until, secret)).rejects.toThrow(message)
})

const SECRET = Buffer.alloc(33, 5).toString('base64')

test.each<[string, string | Buffer]>([
  ['two lines', `${SECRET}\n${SECRET}`],
  ['the line of a settings file', `nacos.core.auth.plugin.nacos.token.secret.key=${SECRET}`],
  ['bytes that are no text', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['another file', 'x'.repeat(4_097)],
])('a file with %s has no secret', async (_, content) => {
  writeFileSync(file, content)
  await expect(open(timeAt(DAY_MS))).rejects.toThrow('the value of the old server alone, in one line of text')
})

test('a secret may be without an end of its line, or with one of Windows', async () => {
  for (const end of ['', '\n', '\r\n']) {
    writeFileSync(file, SECRET + end)
    expect((await open(timeAt(DAY_MS)))?.key).toHaveLength(33)
  }
})
