/** Files that are no plans, that somebody has edited, or that cannot be written; and what an apply makes of odd answers. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, test, vi } from 'vitest'
import { needSmallDisk, SmallDisk } from '../faults/disks/small-disk.ts'
import { startManaged } from '../support/administrator.ts'
import { runWaypost } from '../support/waypost.ts'
import { ImportDouble, planFile, taken } from './import-double.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const stopping: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(stopping.splice(0).map((one) => one.stop()))
})

async function started<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const one = await starting
  stopping.push(one)
  return one
}

const newDirectory = (): string => mkdtempSync(join(inject('temporaryDirectory'), 'odd-'))
const namespace = (id: string, desc = '') => ({ kind: 'namespace', id, name: 'n', desc })
const ONE = { namespace: 1 }
/** Older records would be removed by their age. */
const BEGAN_MS = Date.now() - 3_600_000

async function apply(double: ImportDouble, file: string) {
  return runWaypost(['move', '--apply', file, '--to', double.url], { WAYPOST_ACCESS_TOKEN: 'token' })
}

describe('an apply', () => {
  test.each<[string, (text: string) => string | Buffer]>([
    ['ends of lines of Windows', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['empty lines', (text) => text.replaceAll('\n', '\n\n \n')],
    ['no end of its last line', (text) => text.trimEnd()],
  ])('takes a plan that was saved with %s', async (_, edited) => {
    const double = await started(ImportDouble.start())
    const file = planFile([namespace('a')], ONE)
    writeFileSync(file, edited(readFileSync(file, 'utf8')))
    const { code, stdout, stderr } = await apply(double, file)
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ 1 taken.*\n$/),
    })
    expect(double.calls.map(({ lines }) => lines.map(({ kind }) => kind))).toEqual([['plan', 'namespace']])
  })

  test.each<[string, (text: string) => string | Buffer, RegExp]>([
    ['nothing', () => '', /old\.plan is empty: it is no plan$/],
    ['what is no text', () => Buffer.from([0x1f, 0x8b, 8, 0, 10]), /line 1 of the plan: it is not UTF-8$/],
    ['another file', () => 'port=8848\n', /line 1 of the plan: the line is not JSON: it may be cut$/],
    ['JSON of another kind', () => '[1]\n', /line 1 of the plan: must be an object$/],
    ['no head', (text) => text.slice(text.indexOf('\n') + 1), /line 1 .* its beginning is missing$/],
    [
      'a later format',
      (text) => text.replace('"format":1', '"format":2'),
      /format must be 1, but is 2: it is/,
    ],
    [
      'a kind that is not known',
      (text) => text.replace('"namespace","id"', '"wizard","id"'),
      /line 2 .* but is "wizard": the plan is of a later version, or damaged$/,
    ],
    ['two plans', (text) => text + text, /line 4 of the plan: it comes after the line of kind end$/],
    [
      'a line after its end',
      (text) => `${text}{}\n`,
      /line 4 of the plan: it comes after the line of kind end$/,
    ],
    [
      'deep JSON',
      (text) => text.replace('"name":"n"', `"name":${'['.repeat(9_999)}${']'.repeat(9_999)}`),
      /line 2 /,
    ],
    ['a line without an end', () => 'x'.repeat(50_000_000), /line 1 of the plan: the line is not JSON/],
  ])('refuses a file with %s in one line, and sends nothing', async (_, damaged, message) => {
    const double = await started(ImportDouble.start())
    const file = planFile([namespace('a')], ONE)
    writeFileSync(file, damaged(readFileSync(file, 'utf8')))
    const { code, stdout, stderr } = await apply(double, file)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trimEnd()).toMatch(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(double.calls).toEqual([])
  })

  test('of a directory says so', async () => {
    const double = await started(ImportDouble.start())
    const directory = newDirectory()
    const { code, stderr } = await apply(double, directory)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `waypost: ${directory} is a directory, and not a file. Name a file.\n`,
    })
  })

  test('sends a call that is too large in halves, and refuses only the line that is too large alone', async () => {
    const double = await started(ImportDouble.start())
    double.answer = ({ lines }) =>
      JSON.stringify(lines).length > 10_000
        ? { status: 413, body: { detail: 'The body may have at most 10000 bytes.' } }
        : taken(lines.length - 1, [{ line: 2, outcome: 'refused', reason: 'the first of its call' }])
    const all = Array.from({ length: 40 }, (_, index) => namespace(`n${index}`, 'x'.repeat(900)))
    const lines = [...all.slice(0, 20), namespace('large', 'x'.repeat(20_000)), ...all.slice(20)]
    const { code, stdout } = await apply(double, planFile(lines, { namespace: 41 }))
    expect(code).toBe(1)
    expect(stdout).toContain('refused: namespace large (line 22): The body may have at most 10000 bytes.\n')
    // Each answer names a line by its place in its call.
    const takenCalls = double.calls.filter(({ lines: sent }) => JSON.stringify(sent).length <= 10_000)
    for (const { lines: sent } of takenCalls) {
      const { id } = sent[1] as { id: string }
      const number = lines.findIndex((one) => one.id === id) + 2
      expect(stdout).toContain(`refused: namespace ${id} (line ${number}): the first of its call\n`)
    }
    const sent = takenCalls.flatMap(({ lines: those }) => those.slice(1))
    expect(sent).toEqual(all)
  })

  test('follows no redirect: the plan has hashes of passwords', async () => {
    const [double, elsewhere] = [await started(ImportDouble.start()), await started(ImportDouble.start())]
    double.answer = () => ({ status: 307, body: {}, headers: { location: `${elsewhere.url}/` } })
    const { code, stderr } = await apply(double, planFile([namespace('a')], ONE))
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('the server answered 307') })
    expect(elsewhere.calls).toEqual([])
  })

  test('says in words what a proxy answers in the place of the server', async () => {
    const double = await started(ImportDouble.start())
    double.answer = () => ({ status: 200, body: '<html>' as unknown as object })
    const text = await apply(double, planFile([namespace('a')], ONE))
    expect(text).toMatchObject({ code: 2, stdout: '' })
    expect(text.stderr).not.toContain('Unexpected token')
  })
})

test(
  'an apply continues through a kill of the server, and brings each record once',
  { timeout: 180_000 },
  async () => {
    const { waypost } = await startManaged({ settings: { auth: 'report' } })
    stopping.push({ stop: () => waypost.kill() })
    const names = Array.from({ length: 500 }, (_, index) => `i${index}`)
    const lines = names.flatMap((dataId, index) => {
      const item = { namespace: '', group: 'G', dataId, md5: null, encryptedDataKey: '', appName: '' }
      const author = { type: 'text', user: 'ann', ip: '10.0.0.1' }
      const record = (oldId: number, op: string, content: string) => ({
        kind: 'history',
        ...item,
        ...author,
        content,
        oldId: `${oldId}`,
        op,
        atMs: BEGAN_MS + oldId,
      })
      const notes = { desc: null, use: null, effect: null, schema: null, tags: null }
      return [
        record(2 * index + 1, 'I', 'one'),
        record(2 * index + 2, 'U', 'one'),
        {
          kind: 'config',
          ...item,
          ...author,
          ...notes,
          content: 'two',
          createdMs: BEGAN_MS,
          modifiedMs: BEGAN_MS + 2 * index + 2,
        },
      ]
    })
    const file = planFile(lines, { history: 1_000, config: 500 })
    const isThere = async (dataId: string): Promise<boolean> =>
      (await fetch(`${waypost.url}/nacos/v1/cs/configs?dataId=${dataId}&group=G`)).status === 200
    const args = ['move', '--apply', file, '--to', waypost.url, '--username', 'nacos', '--output', 'json']
    const applied = () => runWaypost(args, { WAYPOST_PASSWORD: 'secret' }, 60_000)
    const running = applied()
    await vi.waitFor(async () => expect(await isThere('i100')).toBe(true), { timeout: 60_000, interval: 10 })
    await waypost.kill()
    const again = await waypost.restart()
    stopping.push({ stop: () => again.kill() })
    // It ends with 2 where the start has taken longer than it waits. Then the same command continues.
    const { code, stderr } = await running
    expect([0, 2], stderr).toContain(code)
    expect(await applied()).toMatchObject({ code: 0 })
    const { code: second, stdout } = await applied()
    expect({ second, ...JSON.parse(stdout) }).toMatchObject({
      second: 0,
      unchanged: 1_500,
      kept: 0,
      refused: 0,
    })
    for (const [index, dataId] of names.entries()) {
      const query = new URLSearchParams({
        dataId,
        group: 'G',
        search: 'accurate',
        pageNo: '1',
        pageSize: '9',
      })
      const { pageItems } = (await (await fetch(`${again.url}/svc/v1/cs/history?${query}`)).json()) as {
        pageItems: { importedId?: string }[]
      }
      const ids = pageItems.map(({ importedId }) => importedId).toReversed()
      expect(ids, dataId).toEqual([`${2 * index + 1}`, `${2 * index + 2}`, ''])
    }
  },
)

describe('a plan', () => {
  const plan = (url: string, file: string, ...more: readonly string[]) =>
    runWaypost(['move', '--from', url, '--history', 'none', '--rate', '10000', '--plan', file, ...more])

  test('is not written onto what is there, and says where it may be', async () => {
    const replay = await started(ReplayOfRecordedAnswers.start('2.5.1'))
    const directory = newDirectory()
    const file = join(directory, 'there')
    writeFileSync(file, 'mine')
    const cases: [string, string][] = [
      [file, `${file} exists already: remove it, or choose another name`],
      [directory, `${directory} is a directory: name a file in it`],
      [
        join(directory, 'no', 'x'),
        `${join(directory, 'no')} does not exist: make the directory, or choose another place`,
      ],
      [join(file, 'x'), `A part of the path ${join(file, 'x')} is not a directory. Check the name.`],
    ]
    for (const [name, message] of cases)
      expect(await plan(replay.url, name)).toMatchObject({ code: 2, stderr: `waypost: ${message}\n` })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(readdirSync(directory)).toEqual(['there'])
  })

  const disks = needSmallDisk()
  test.skipIf(disks.skip)(`on a disk that is full says so, and leaves nothing ${disks.reason}`, async () => {
    const replay = await started(ReplayOfRecordedAnswers.start('2.5.1'))
    const disk = new SmallDisk(newDirectory(), 1)
    const file = join(disk.directory, 'x.plan')
    try {
      for (const freeBytes of [4_096, 8_192]) {
        disk.fillUpTo(freeBytes)
        const { code, stderr } = await plan(replay.url, file)
        expect({ code, stderr }).toEqual({
          code: 2,
          stderr: expect.stringContaining(`The disk of ${file} is full. Free some space there.\n`),
        })
        disk.free()
        expect(readdirSync(disk.directory)).toEqual([])
      }
      disk.setReadOnly(true)
      expect(await plan(replay.url, file)).toMatchObject({
        code: 2,
        stderr: `waypost: The file system of ${file}.part is read-only. Choose another place.\n`,
      })
    } finally {
      disk.close()
    }
  })

  test('since one of another server reads all records: ids of records are those of one server', async () => {
    const [old, other] = await Promise.all(
      ['2.5.1', '2.5.1'].map((version) => started(ReplayOfRecordedAnswers.start(version as '2.5.1'))),
    )
    const [first, second, third] = ['1', '2', '3'].map((name) => join(newDirectory(), name))
    const read = (url: string, ...more: readonly string[]) =>
      runWaypost(['move', '--from', url, '--rate', '10000', ...more])
    await read(old!.url, '--plan', first!)
    // The other server has another text under the same id.
    other!.instead.set('nid=2', () => ({
      status: 200,
      body: '{"id":"2","opType":"U","content":"of the other","lastModifiedTime":"2026-11-24T07:16:14.784Z"}',
    }))
    const made = await read(other!.url, '--plan', second!, '--since', first!)
    expect(made.stdout).toContain(`remark: history all records: the earlier plan is of ${old!.url}: `)
    expect(readFileSync(second!, 'utf8')).toContain('of the other')
    const again = await read(old!.url, '--plan', third!, '--since', first!)
    expect(again.stdout).not.toContain('the earlier plan is of')
    expect(readFileSync(third!, 'utf8')).not.toContain('"kind":"history"')
  })
})
