import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examine, openExamined } from '../../src/store/embedded/doctor/examine.ts'
import { repair } from '../../src/store/embedded/doctor/repair.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { readCatalog } from '../../src/store/embedded/file/catalog.ts'
import { DatabaseFile } from '../../src/store/embedded/file/database-file.ts'
import { FORMAT } from '../../src/store/embedded/schema.ts'
import { INSTANCES_OF_FORMAT_3 } from './old-formats.ts'
import { commitAll, sampleInstance, sampleService, serviceKey, serviceSaved } from './samples.ts'

/** The table `instance` as format 1 had it, and rows as its last version wrote them. */
const INSTANCES_OF_FORMAT_1 = `
DROP TABLE instance;
CREATE TABLE instance (
  serial INTEGER PRIMARY KEY,
  service_serial INTEGER NOT NULL,
  ip TEXT NOT NULL,
  port INTEGER NOT NULL,
  cluster TEXT NOT NULL,
  ephemeral INTEGER NOT NULL,
  weight REAL NOT NULL,
  enabled INTEGER NOT NULL,
  app TEXT NOT NULL,
  metadata TEXT NOT NULL,
  saved_ms INTEGER NOT NULL,
  healthy INTEGER,
  checksum INTEGER NOT NULL
);
INSERT INTO instance VALUES
  (80, 7, '10.0.0.1', 80, 'DEFAULT', 1, 1.5, 1, 'shop', '{"zone":"a","note":"two\\nlines"}', 1763700000000, 1, 2919254464),
  (81, 7, '10.0.0.1', 81, 'ü' || char(65533), 0, 0, 0, x'610062', '{}', 1763700000000, 0, 2166847940),
  (82, 7, '10.0.0.1', 82, 'DEFAULT', 1, 1.5, 1, 'shop', '{"zone":"a","note":"two\\nlines"}', 1763700000000, NULL, 2145654525);
DELETE FROM meta WHERE name = 'current_versions';
PRAGMA user_version = 1;
`

/** The same instances, as the last version of format 3 wrote them. */
const ROWS_OF_FORMAT_3 = `
${INSTANCES_OF_FORMAT_3}
INSERT INTO instance VALUES
  (80, 7, 1, 1565409778, '["10.0.0.1",80,"DEFAULT",true,1.5,true,"shop",{"zone":"a","note":"two\\nlines"}]'),
  (81, 7, 0, 757285016, '["10.0.0.1",81,"ü�",false,0,false,"a\\u0000b",{}]'),
  (82, 7, 1, 3651052238, '["10.0.0.1",82,"DEFAULT",true,1.5,true,"shop",{"zone":"a","note":"two\\nlines"}]');
PRAGMA user_version = 3;
`

/** The number of each format with such a table, and the SQL that makes it of a new file's. */
type OldFormat = readonly [format: string, sql: string]

const FORMATS: readonly OldFormat[] = [
  ['1', INSTANCES_OF_FORMAT_1],
  ['3', ROWS_OF_FORMAT_3],
]

const log = { info() {}, warn() {}, error() {} }
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waypost-format-'))
  const store = await openEmbeddedStore({ directory, log })
  await commitAll(store, serviceSaved(sampleService('shop', 7)))
  await store.close()
})

afterEach(() => rm(directory, { recursive: true, force: true }))

/** Makes the directory one of an older format. */
async function age([format, sql]: OldFormat): Promise<void> {
  alter(sql)
  await writeFile(markerPath(), `{"format":${format},"createdMs":5}`)
}

test.each(FORMATS)(
  'a directory of format %s is brought to this one, with every instance, and stays so',
  async (...old) => {
    await age(old)
    const [first, second] = [sampleInstance(80), sampleInstance(81)]
    const other = { weight: 0, enabled: false, ephemeral: false, registered: {}, app: 'a\0b' }
    const address = { ...second.address, cluster: 'ü\ufffd' }
    const before = rootPage()
    for (const _start of [1, 2]) {
      const store = await openEmbeddedStore({ directory, log })
      expect((await store.load()).instances).toEqual([
        { serviceKey: serviceKey('shop'), record: first, healthy: true },
        { serviceKey: serviceKey('shop'), record: { ...second, ...other, address }, healthy: false },
        { serviceKey: serviceKey('shop'), record: sampleInstance(82), healthy: true },
      ])
      await store.close()
      expect(JSON.parse(await readFile(markerPath(), 'utf8'))).toEqual({ format: FORMAT, createdMs: 5 })
    }
    expect(examine(directory, () => {}).findings).toEqual([])
    expect(rootPage()).toBe(before)
  },
)

test.each(FORMATS)('what format %s becomes has the tables of a new file', async (...old) => {
  await age(old)
  await (await openEmbeddedStore({ directory, log })).close()
  const fresh = await mkdtemp(join(tmpdir(), 'waypost-fresh-'))
  await (await openEmbeddedStore({ directory: fresh, log })).close()
  expect(await columns(directory)).toEqual(await columns(fresh))
  await rm(fresh, { recursive: true })
})

test.each(FORMATS)(
  'the doctor reads a directory of format %s, and repairs it into one of this format',
  async (...old) => {
    await age(old)
    const examined = openExamined(directory, () => {})
    expect(examined.examination.findings).toEqual([])
    expect(examined.examination.rows.instance).toBe(3)
    const repaired = `${directory}-repaired`
    repair(examined, repaired, () => {})
    examined.close()
    const store = await openEmbeddedStore({ directory: repaired, log })
    expect((await store.load()).instances.map(({ record }) => record.serial)).toEqual([80, 81, 82])
    await store.close()
    await rm(repaired, { recursive: true })
  },
)

test.each([
  ['1', INSTANCES_OF_FORMAT_1, 'port = 8'],
  ['3', ROWS_OF_FORMAT_3, 'service_serial = 8'],
])('a damaged row of format %s is refused and named, and nothing is changed', async (...damage) => {
  const [format, sql, change] = damage
  await age([format, sql])
  alter(`UPDATE instance SET ${change} WHERE serial = 81`)
  for (const _start of [1, 2]) {
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(
      /The row 81 of the table instance is damaged: .*waypost doctor/,
    )
  }
  const { findings, rows } = examine(directory, () => {})
  expect(findings).toMatchObject([{ place: expect.stringContaining('table instance, row 81') }])
  expect(rows.instance).toBe(2)
})

function markerPath(): string {
  return join(directory, 'waypost.json')
}

/** Changes the database behind the store's back. */
function alter(sql: string): void {
  const database = new Database(join(directory, 'waypost.db'))
  database.exec('PRAGMA journal_mode = DELETE')
  database.exec(sql)
  database.close()
}

function rootPage(): number {
  const file = new DatabaseFile(join(directory, 'waypost.db'))
  const root = readCatalog(file).tables.instance
  file.close()
  return root
}

/** What SQLite knows of the table's columns. Of a copy: a process that has queried a file keeps it. */
async function columns(of: string): Promise<unknown> {
  const copy = join(of, 'copy.db')
  await copyFile(join(of, 'waypost.db'), copy)
  const database = new Database(copy)
  return database.prepare('PRAGMA table_info(instance)').raw().all()
}
