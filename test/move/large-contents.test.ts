/** The memory of a move with contents of the largest size that servers take. */
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, inject, test } from 'vitest'
import { measuredMove } from './measured-move.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const ITEMS = 5
const RECORDS = 1
const LINE = 'ключ: "⚙"\n'
/** Nearly 10 MiB of UTF-8. */
const CONTENT = LINE.repeat(Math.floor(10_400_000 / Buffer.byteLength(LINE)))
const NAMES = Array.from({ length: ITEMS }, (_, index) => `large-${index}`)
const LINES = ITEMS * (1 + RECORDS)

/** A few texts of 20 MB in memory, which Node.js frees when it likes. With all texts at once it is more. */
const MOST_MEMORY_KB = 512 * 1_024

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

/** Its items are large, and so are their records. */
async function oldServer(): Promise<ReplayOfRecordedAnswers> {
  const replay = await ReplayOfRecordedAnswers.start('1.4.8')
  stops.push(() => replay.stop())
  const list = (pageItems: readonly object[]) => ({
    status: 200,
    body: JSON.stringify({ totalCount: pageItems.length, pageItems }),
  })
  const large = { content: CONTENT, opType: 'U', lastModifiedTime: '2026-01-02T03:04:05.000+0000' }
  const answer = { status: 200, body: Buffer.from(JSON.stringify(large)) }
  replay.instead.set('/v1/cs/history?search=', () =>
    list(Array.from({ length: RECORDS }, (_, index) => ({ id: String(index + 1) }))),
  )
  replay.instead.set('/v1/cs/history?nid=', () => answer)
  replay.instead.set('show=all&dataId=large-', () => answer)
  // It sends contents with its list: several contents are too much for a page.
  replay.instead.set('/v1/cs/configs?search=accurate&dataId=&group=&tenant=&', (call) => {
    const size = Number(/pageSize=(\d+)/.exec(call)![1])
    const begin = (Number(/pageNo=(\d+)/.exec(call)![1]) - 1) * size
    const pageItems = NAMES.slice(begin, begin + size).map((dataId) => ({
      dataId,
      group: 'G',
      content: size === 1 ? CONTENT : 'x'.repeat(2_097_152),
    }))
    return { status: 200, body: JSON.stringify({ totalCount: ITEMS, pageItems }) }
  })
  replay.instead.set('/v1/ns/catalog/services', () => ({
    status: 200,
    body: '{"serviceList":[],"count":0}',
  }))
  return replay
}

/** This is no Waypost: it takes whatever it is sent, and counts the lines. */
async function newServerThatOnlyCounts(): Promise<{ readonly url: string; readonly counted: () => number }> {
  let counted = 0
  const server = createServer((request, response) => {
    if (request.url === '/openapi.json')
      return void response.end('{"info":{"title":"Waypost","version":"1"}}')
    let taken = -1
    request.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) taken++
    })
    request.on('end', () => {
      counted += taken
      response.end(JSON.stringify({ taken, unchanged: 0, kept: 0, refused: 0, lines: [] }))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  stops.push(() => new Promise((done) => server.close(done)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counted: () => counted }
}

test('a move of contents of 10 MiB holds a few of them at a time', { timeout: 180_000 }, async () => {
  const [old, target] = await Promise.all([oldServer(), newServerThatOnlyCounts()])
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'large-')), 'plan')
  const planned = await measuredMove(['--from', old.url, '--rate', '10000', '--plan', file], {})
  expect(planned.stdout).toMatch(/ 5 {2}history\n +5 {2}config\n/)
  expect(planned.memoryKb).toBeLessThan(MOST_MEMORY_KB)
  const applied = await measuredMove(['--apply', file, '--to', target.url], { WAYPOST_ACCESS_TOKEN: 't' })
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining(`: ${LINES + 1} taken`) })
  expect(target.counted()).toBe(LINES + 1)
  expect(applied.memoryKb).toBeLessThan(MOST_MEMORY_KB)
})
