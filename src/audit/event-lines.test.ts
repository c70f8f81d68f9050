import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AuditEvent } from '../core/audit/audit-event.ts'
import { appendTo, appendToStream, EventLines } from './event-lines.ts'

const event: AuditEvent = {
  id: 7,
  atMs: 1_795_260_678_579,
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'publish config',
  item: 'dev:G:config/a\n"b"',
  result: 'done',
  code: '',
  detail: '',
  count: 1,
}

let directory: string
let path: string
let errors: unknown[]
const report = (error: unknown) => void errors.push(error)
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-lines-'))
  path = join(directory, 'audit.log')
  errors = []
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('each event is one line of JSON in a file that only its owner can read', async () => {
  const lines = new EventLines(appendTo(path), report)
  lines.write(event)
  lines.write({ ...event, id: 8 })
  await lines.close()
  const { id, atMs: _, ...entry } = event
  expect(linesOf(path)).toEqual([
    {
      audit: id,
      time: '2026-11-21T11:31:18.579Z',
      ...entry,
      item: 'dev:G:config/a and 1 more',
      items: ['dev:G:config/a', '"b"'],
    },
    expect.objectContaining({ audit: 8 }),
  ])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a line names what was left as it was', async () => {
  const lines = new EventLines(appendTo(path), report)
  lines.write({ ...event, item: 'dev:G:config/a\n! dev:G:config/b' })
  await lines.close()
  expect(linesOf(path)).toMatchObject([
    { items: ['dev:G:config/a', 'dev:G:config/b'], unchangedItems: ['dev:G:config/b'] },
  ])
})

test('a file that was renamed is followed by a new one', async () => {
  const lines = new EventLines(appendTo(path), report)
  lines.write(event)
  await lines.close()
  renameSync(path, `${path}.1`)
  lines.write({ ...event, id: 8 })
  await lines.close()
  expect([linesOf(`${path}.1`)[0].audit, linesOf(path)[0].audit]).toEqual([7, 8])
})

test('lines that cannot be written are lost, and reported once until they can', async () => {
  let isBroken = true
  const written: string[] = []
  const lines = new EventLines(async (text) => {
    if (isBroken) throw new Error('no such directory')
    written.push(text)
  }, report)
  const write = async () => {
    lines.write(event)
    await lines.close()
  }
  await write()
  await write()
  expect(errors).toHaveLength(1)
  isBroken = false
  await write()
  expect(written).toHaveLength(1)
  isBroken = true
  await write()
  expect(errors).toHaveLength(2)
})

test('lines that nobody takes are bounded', async () => {
  let release = (): void => undefined
  const written: string[] = []
  const lines = new EventLines(async (text) => {
    written.push(text)
    await new Promise<void>((resolve) => (release = resolve))
  }, report)
  lines.write(event)
  await new Promise(setImmediate)
  for (let turn = 0; turn < 20_000; turn++) lines.write({ ...event, item: 'x'.repeat(500) })
  expect(errors).toHaveLength(1)
  release()
  await new Promise(setImmediate)
  expect(written[1]!.length).toBeLessThan(5 * 1024 * 1024)
})

test('events are written to a stream', async () => {
  const stream = new PassThrough()
  const lines = new EventLines(appendToStream(stream), report)
  lines.write(event)
  await lines.close()
  expect(JSON.parse(String(stream.read()))).toMatchObject({ audit: 7, operation: 'publish config' })
})
