import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ConfigItem } from '../../src/core/config/config-item.ts'
import { restore } from '../../src/store/embedded/backup/restore.ts'
import { sha256OfFile } from '../../src/store/embedded/backup/backup-facts.ts'
import { examine, openExamined } from '../../src/store/embedded/doctor/examine.ts'
import { repair } from '../../src/store/embedded/doctor/repair.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { FORMAT } from '../../src/store/embedded/schema.ts'
import { INSTANCES_OF_FORMAT_3 } from './old-formats.ts'
import { commitAll, published, sampleKey } from './samples.ts'

/**
 * Rows as the last version of format 2 wrote them, whose tables were the same but for that of instances. `a` was published three times, `b` once;
 * `c` was deleted. The rows of items say their current versions, and there are no sums.
 */
const ROWS_OF_FORMAT_2 = `
${INSTANCES_OF_FORMAT_3}
INSERT INTO config_name VALUES
  (1, 'public', 'g', 'a', 3140190929), (2, 'public', 'g', 'b', 440121889), (3, 'public', 'g', 'c', 3424342094);
INSERT INTO config_item VALUES
  (1, 2, 9, 1795000000000, 'ada', '10.1.2.3', 'ü', NULL, NULL, NULL, NULL, 3892828116),
  (2, 4, 5, 1795000000000, 'ada', '10.1.2.3', NULL, NULL, NULL, NULL, NULL, 4019455009);
INSERT INTO config_revision VALUES
  (3, 1, 2, 'I', NULL, 'f97c5d29941bfb1b2fdab0874906ab82', 'text', '', '', '10.1.2.3', 'ada', 1795000000000, 0, 2355291329, x'6f6e65'),
  (5, 2, 4, 'I', NULL, '9dfd70fdf15a3cb1ea00d7799ac6651b', 'text', '', '', '10.1.2.3', 'ada', 1795000000000, 0, 1913968088, x'626565'),
  (7, 1, 2, 'U', 3, 'b8a9f715dbb64fd5c56e7783c6820a61', 'text', '', '', '10.1.2.3', 'ada', 1795000001000, 0, 3704942215, x'74776f'),
  (9, 1, 2, 'U', 7, '35d6d33467aae9a2e3dccb4b6b027878', 'text', '', '', '10.1.2.3', 'ada', 1795000002000, 0, 854576566, x'7468726565'),
  (11, 3, 10, 'I', NULL, '50c1f58be7f5e47e0f53d64c094783c2', 'text', '', '', '10.1.2.3', 'ada', 1795000000000, 0, 179000990, x'676f6e65'),
  (13, 3, 10, 'D', 11, NULL, NULL, NULL, NULL, '10.1.2.3', 'ada', 1795000003000, 0, 2672099535, NULL);
DELETE FROM meta WHERE name = 'current_versions';
PRAGMA user_version = 2;
`
/** Takes the newest version of `a` away. */
const VERSION_LOST = 'DELETE FROM config_revision WHERE id = 9;'
/** Puts the row of `a` as it was one version before, as a disk that lost a write has it. */
const ROW_TOO_OLD = 'UPDATE config_item SET revision_id = 7, checksum = 3058665124 WHERE name_id = 1;'
/** Puts back the row that `c` had. */
const DELETED_ONE_BACK = `INSERT INTO config_item VALUES
  (3, 10, 11, 1795000000000, 'ada', '10.1.2.3', NULL, NULL, NULL, NULL, NULL, 3355401901)`

const log = { info() {}, warn() {}, error() {} }
let base: string
let directory: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'waypost-format-'))
  directory = join(base, 'data')
  await (await openEmbeddedStore({ directory, log })).close()
  alter(directory, ROWS_OF_FORMAT_2)
  await writeFile(join(directory, 'waypost.json'), '{"format":2,"createdMs":5}')
})

afterEach(() => rm(base, { recursive: true, force: true }))

test('a directory of format 2 is brought to this one, and goes on', async () => {
  expect(contents(await items(directory))).toEqual({ a: 'three', b: 'bee' })
  expect(JSON.parse(await readFile(join(directory, 'waypost.json'), 'utf8'))).toEqual({
    format: FORMAT,
    createdMs: 5,
  })
  const store = await openEmbeddedStore({ directory, log })
  const [a, b] = (await store.load()).configs
  expect(a).toMatchObject({ historyId: 9, notes: { desc: 'ü' }, origin: { id: 2 } })
  await commitAll(store, published(sampleKey('a'), { content: 'four', previous: a, notes: a!.notes }))
  await commitAll(store, published(sampleKey('b'), { content: 'bee 2', previous: b }))
  await store.close()
  expect(contents(await items(directory))).toEqual({ a: 'four', b: 'bee 2' })
  expect(examine(directory, () => {}).findings).toEqual([])
})

test('the doctor reads a directory of format 2, and repairs it into one of this format', async () => {
  const examined = openExamined(directory, () => {})
  expect(examined.examination.findings).toEqual([])
  repair(examined, join(base, 'repaired'), () => {})
  examined.close()
  expect(contents(await items(join(base, 'repaired')))).toEqual({ a: 'three', b: 'bee' })
})

test('a backup of format 2 is restored, and the start brings it to this one', async () => {
  const sha256 = sha256OfFile(join(directory, 'waypost.db'), 'reading', () => {})
  const facts = { format: 2, version: '0.0.9', revision: 6, createdMs: 5, label: '', size: 1, sha256 }
  await writeFile(join(directory, 'backup.json'), JSON.stringify(facts))
  await restore(directory, join(base, 'restored'), () => {})
  expect(contents(await items(join(base, 'restored')))).toEqual({ a: 'three', b: 'bee' })
})

test.each([
  [
    'whose newest version is missing',
    { sql: VERSION_LOST, problem: 'Its current version 9 is missing.', saved: { a: 'two', b: 'bee' } },
  ],
  [
    'whose row is older than its history',
    { sql: ROW_TOO_OLD, problem: 'stands at the version 7', saved: { a: 'three', b: 'bee' } },
  ],
  [
    'that was deleted and is there',
    { sql: DELETED_ONE_BACK, problem: 'goes on to the record 13', saved: { a: 'three', b: 'bee' } },
  ],
])(
  'an item of format 2 %s is refused and named, and nothing is changed',
  async (_, { sql, problem, saved }) => {
    alter(directory, sql)
    for (const _start of [1, 2]) {
      await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(
        /The row [13] of the table config_item is damaged: .*waypost doctor/,
      )
    }
    const examined = openExamined(directory, () => {})
    const { findings } = examined.examination
    expect(findings).toMatchObject([
      { place: expect.stringMatching(/^item public.g.[ac]$/), problem: expect.stringContaining(problem) },
    ])
    repair(examined, join(base, 'repaired'), () => {})
    examined.close()
    expect(contents(await items(join(base, 'repaired')))).toEqual(saved)
  },
)

test('a damaged row of format 2 is refused and named', async () => {
  alter(directory, "UPDATE config_item SET description = 'v' WHERE name_id = 1")
  await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(
    /The row 1 of the table config_item is damaged: its checksum/,
  )
})

test.each([0, 1, 2])('a file of this format that says it has format %i is refused', async (format) => {
  await items(directory)
  alter(directory, `PRAGMA user_version = ${format}`)
  await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/damaged.*waypost doctor/)
  const { findings } = examine(directory, () => {})
  expect(findings).toMatchObject([{ place: 'waypost.db, page 1' }])
})

async function items(of: string): Promise<readonly ConfigItem[]> {
  const store = await openEmbeddedStore({ directory: of, log })
  const { configs } = await store.load()
  await store.close()
  return configs
}

function contents(of: readonly ConfigItem[]): Record<string, string> {
  return Object.fromEntries(of.map(({ key, content }) => [key.dataId, content.toString()]))
}

/** Changes a database behind the store's back. */
function alter(of: string, sql: string): void {
  const database = new Database(join(of, 'waypost.db'))
  database.exec('PRAGMA journal_mode = DELETE')
  database.exec(sql)
  database.close()
}
