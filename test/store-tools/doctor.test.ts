import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { runWaypost, startWaypost, temporaryDirectory } from '../support/waypost.ts'
import {
  alter,
  copyOf,
  diagnose,
  fileOf,
  flipBit,
  importedStore,
  instancesOf,
  instanceStore,
  PAGE,
  pagesOfKind,
  placeOf,
  sampleStore,
} from './damage.ts'

let sound: string
beforeAll(async () => {
  sound = await sampleStore()
})

function damaged(change: (file: string, directory: string) => void) {
  const directory = copyOf(sound)
  change(fileOf(directory), directory)
  return diagnose(directory)
}

describe('the doctor on a sound store', () => {
  test('misses no item of records that were imported before it', async () => {
    const { findings, rows } = diagnose(await importedStore())
    expect(findings).toEqual([])
    expect(rows).toEqual(expect.not.objectContaining({ config_item: expect.anything() }))
  })

  test('finds nothing, counts every row and changes no byte', () => {
    const before = readFileSync(fileOf(sound))
    const { counts, rows, findings } = diagnose(sound)
    expect(findings).toEqual([])
    expect(counts).toEqual({ damage: 0, notes: 0 })
    expect(rows).toMatchObject({ config_name: 60, config_item: 60, config_revision: 180 })
    expect(readFileSync(fileOf(sound)).equals(before)).toBe(true)
    expect(readdirSync(sound).sort()).toEqual(['waypost.db', 'waypost.json'])
  })

  test('exits with 0 and prints JSON with --json', async () => {
    const { code, stdout } = await runWaypost(['doctor', '--data-dir', sound, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ directory: sound, counts: { damage: 0 } })
  })

  test('reads the log of a killed server, and accepts a log that ends in the middle', async () => {
    const server = await startWaypost()
    for (let at = 0; at < 30; at++) await publish(server.url, `item-${at}`, 'x'.repeat(9_000))
    await server.kill()
    // A process that has looked at a database keeps it until it ends.
    const whole = diagnose(copyOf(server.dataDir))
    expect(whole.damage).toEqual([])
    expect(whole.rows['config_item']).toBe(30)
    const log = `${fileOf(server.dataDir)}-wal`
    truncateSync(log, statSync(log).size - 5_000)
    const cut = diagnose(server.dataDir)
    expect(cut.damage).toEqual([])
    expect(cut.findings[0]).toMatchObject({ severity: 'note', place: 'waypost.db-wal' })
    // The cut removed the last item, or a later record that the server has written by itself.
    expect([29, 30]).toContain(cut.rows['config_item'])
  })
})

describe('the process that examines', () => {
  test('is reported with its last step where it ends on what it reads, and leaves no copy behind', async () => {
    const directory = copyOf(sound)
    const copies = temporaryDirectory('copies-')
    const ending = join(temporaryDirectory('ending-'), 'ending.mjs')
    writeFileSync(
      ending,
      `if (process.argv[1]?.endsWith('examiner.js')) {
         const send = process.send.bind(process)
         process.send = (message) => {
           send(message)
           if (message.step === 'writing rows') process.kill(process.pid, 'SIGKILL')
         }
       }`,
    )
    const { code, stderr } = await runWaypost(
      ['copy-store', '--salvage', '--from', directory, '--to', `${directory}-new`],
      { NODE_OPTIONS: `--import=${ending}`, TMPDIR: copies },
    )
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/The process that read it has ended \(SIGKILL, while writing rows\).*backup/),
    ])
    expect([readdirSync(copies), readdirSync(`${directory}-new`)]).toEqual([[], []])
  })

  test('is stopped with the doctor, and its copy is removed', async () => {
    const copies = temporaryDirectory('copies-')
    const waiting = join(temporaryDirectory('waiting-'), 'waiting.mjs')
    writeFileSync(
      waiting,
      `if (process.argv[1]?.endsWith('examiner.js')) {
         const { setTimeout: sleep } = await import('node:timers/promises')
         await sleep(600_000)
       }`,
    )
    const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
    const env = { ...process.env, NODE_OPTIONS: `--import=${waiting}`, TMPDIR: copies }
    const child = spawn(process.execPath, [main, 'doctor', '--data-dir', sound], { env })
    const ended = once(child, 'close')
    await expect.poll(() => readdirSync(copies).length, { timeout: 30_000 }).toBe(1)
    child.kill('SIGTERM')
    expect(await ended).toEqual([143, null])
    expect(readdirSync(copies)).toEqual([])
  })
})

describe('the doctor finds', () => {
  test('a bit that flipped in a long content, far from its row', () => {
    const { damage } = damaged((file) => flipBit(file, placeOf(file, '3'.repeat(3_000)) + 2_000))
    expect(damage.some(({ place }) => place.startsWith('item public/g/item-'))).toBe(true)
  })

  test('a bit that flipped anywhere in the row of an instance', async () => {
    const whole = await instanceStore()
    const file = fileOf(whole)
    const page = placeOf(file, '"10.0.0.1",80,') & -PAGE
    // The only row of its page, which begins where the page's list of rows says and ends with the page.
    const row = page + readFileSync(file).readUInt16BE(page + 8)
    expect(diagnose(copyOf(whole))).toMatchObject({ damage: [], rows: { instance: 1 } })
    const unnoticed: string[] = []
    for (let at = row; at < page + PAGE; at++) {
      const directory = copyOf(whole)
      flipBit(fileOf(directory), at)
      if (diagnose(directory).damage.length === 0) unnoticed.push(directory)
    }
    // One bit says that the record is bytes and not a text: they are the same bytes, and read as before.
    expect(unnoticed).toHaveLength(1)
    expect(await instancesOf(unnoticed[0]!)).toEqual(await instancesOf(whole))
  })

  test('a damaged index', () => {
    const { damage } = damaged((_file, directory) =>
      alter(
        directory,
        "PRAGMA writable_schema = ON; DELETE FROM config_revision WHERE id = 1; UPDATE sqlite_schema SET sql = 'CREATE INDEX config_revision_by_name ON config_revision (hidden, name_id)' WHERE name = 'config_revision_by_name'",
      ),
    )
    expect(damage.some(({ problem }) => problem.startsWith('SQLite says: '))).toBe(true)
    expect(damage.some(({ effect }) => /Look-ups/.test(effect))).toBe(true)
  })

  test('a file that was cut', () => {
    const { damage } = damaged((file) =>
      truncateSync(file, Math.floor(statSync(file).size / PAGE / 2) * PAGE),
    )
    expect(damage[0]?.problem).toMatch(
      /^The file was cut: it has \d+ bytes, and \d+ of its \d+ pages are missing/,
    )
  })

  test.each([
    ['missing', (file: string) => rmSync(file)],
    ['empty', (file: string) => truncateSync(file)],
  ])('a database that is %s beside its marker, with advice', (word, change) => {
    const { damage } = damaged(change)
    expect(damage).toHaveLength(1)
    expect(damage[0]?.problem).toContain(`The database is ${word}`)
    expect(damage[0]?.leavesOut).toContain('waypost restore')
  })

  test('a log that is damaged in front of finished commits', async () => {
    const server = await startWaypost()
    for (let at = 0; at < 30; at++) await publish(server.url, `item-${at}`, 'x')
    await server.kill()
    flipBit(`${fileOf(server.dataDir)}-wal`, 32 + 24 + PAGE * 2)
    const { damage } = diagnose(server.dataDir)
    expect(damage[0]).toMatchObject({ place: 'waypost.db-wal' })
  })
})

test('damage exits with 1 and advice, and kinds of pages are as expected', async () => {
  const directory = copyOf(sound)
  expect(pagesOfKind(fileOf(directory), 13).length).toBeGreaterThan(5)
  alter(directory, 'DELETE FROM config_item WHERE name_id = 7')
  const { code, stdout } = await runWaypost(['doctor', '--data-dir', directory])
  expect(code).toBe(1)
  expect(stdout).toContain('DAMAGE  item public/g/item-6')
  expect(stdout).toContain('copy what is sound with `waypost copy-store --salvage`')
})

async function publish(url: string, dataId: string, content: string): Promise<void> {
  const body = new URLSearchParams({ dataId, group: 'g', content })
  const answer = await fetch(`${url}/svc/v1/cs/configs`, { method: 'POST', body })
  expect(answer.status).toBe(200)
}
