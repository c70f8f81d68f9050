import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { SWITCH } from '../../src/core/switches/switch-records.ts'
import { recordSaved } from '../../src/core/records/record-kind.ts'
import { diagnose } from '../store-tools/damage.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { checksumColumnsOf, columnsOf } from '../../src/store/embedded/rows/row-reader.ts'
import { TABLES } from '../../src/store/embedded/rows/tables.ts'
import {
  ANY_EVENT,
  commitAll,
  instanceSaved,
  publishAll,
  sampleEvent,
  sampleInstance,
  sampleKey,
  sampleService,
  serviceSaved,
  stamps,
  START_MS,
} from './samples.ts'

/** Bytes that are no UTF-8: the driver would end the process if it were given them as a text. */
const NO_TEXT = "CAST(x'41ff42' AS TEXT)"
/** Nothing but a row number can stand there; it is what a row is found by. */
const ROW_NUMBERS = [
  'config_name.id',
  'config_revision.id',
  'config_item.name_id',
  'service.serial',
  'instance.serial',
  'audit.id',
]
/** Cleaning changes it alone, so the checksum does not cover it. */
const UNCHECKED = ['config_revision.hidden']

const WHOLE = { pageNo: 1, pageSize: 10 }
const DAMAGED_RECORD = /The row \d+ of the table config_revision is damaged.*waypost doctor/

const log = { info() {}, warn() {}, error() {} }
let base: string
let sound: string
let recordId: number

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'waypost-damage-'))
  sound = join(base, 'sound')
  const store = await openEmbeddedStore({ directory: sound, log })
  const versions = await publishAll(store, sampleKey('a'), ['1', '2'])
  recordId = versions[1]!.historyId
  const service = sampleService('shop', 7)
  const stamp = stamps.next(START_MS)
  await commitAll(
    store,
    recordSaved(NAMESPACE, { id: 'blue', value: { id: 'blue', showName: 'Blue', desc: 'd' }, stamp }),
    serviceSaved(service),
    instanceSaved(service, sampleInstance(80)),
    recordSaved(SWITCH, { id: 'healthCheckEnabled', value: false, stamp }),
  )
  await store.saveAudit([sampleEvent()])
  await store.close()
})

afterAll(() => rm(base, { recursive: true, force: true }))

describe('a text that is not UTF-8 any more', () => {
  const places = Object.values(TABLES).flatMap((table) =>
    [...columnsOf(table), ...checksumColumnsOf(table)].map((column) => `${table.name}.${column}`),
  )
  const damaged = places.filter((place) => ![...ROW_NUMBERS, ...UNCHECKED].includes(place))
  const inAudit = damaged.filter((place) => place.startsWith('audit.'))

  test.each(inAudit)('in %s is reported when the audit is read, and by the doctor', async (place) => {
    const directory = await damagedBy(`UPDATE audit SET ${place.slice('audit.'.length)} = ${NO_TEXT}`)
    const store = await openEmbeddedStore({ directory, log })
    await store.load()
    await expect(store.reads('test').findAudit(ANY_EVENT, 10)).rejects.toThrow(
      /The row \d+ of the table audit is damaged.*waypost doctor/,
    )
    await store.close()
    expect(diagnose(directory).counts.damage).toBeGreaterThan(0)
  })

  test.each(damaged.filter((place) => !inAudit.includes(place)))(
    'in %s is reported by the server and the doctor',
    async (place) => {
      const [table = '', column = ''] = place.split('.')
      const first = `WHERE rowid = (SELECT max(rowid) FROM ${table})`
      const directory = await damagedBy(`UPDATE ${table} SET ${column} = ${NO_TEXT} ${first}`)
      await expect(loaded(directory)).rejects.toThrow(
        /(The row .* of the table \w+ is|The tables .* are) damaged.*waypost doctor/,
      )
      expect(diagnose(directory).counts.damage).toBeGreaterThan(0)
    },
  )

  test.each(['op', 'md5', 'src_ip', 'src_user', 'type', 'app_name', 'encrypted_data_key', 'at_ms'])(
    'in %s of a record of history is reported when the record or its page is read',
    async (column) => {
      const directory = await damagedBy(`UPDATE config_revision SET ${column} = ${NO_TEXT}`)
      const store = await openEmbeddedStore({ directory, log })
      await expect(store.reads('test').historyRecord(recordId)).rejects.toThrow(DAMAGED_RECORD)
      await expect(store.reads('test').history([sampleKey('a')], WHOLE)).rejects.toThrow(DAMAGED_RECORD)
      await store.close()
    },
  )
})

describe('a record whose number in the table has changed', () => {
  const INDEX = "name = 'config_revision_by_name'"
  /** As if a bit of the number had turned: the index still has the one before. */
  const moved = (id: number) => `
    PRAGMA writable_schema = ON;
    CREATE TEMP TABLE kept AS SELECT * FROM sqlite_schema WHERE ${INDEX};
    DELETE FROM sqlite_schema WHERE ${INDEX};
    PRAGMA writable_schema = RESET;
    UPDATE config_revision SET id = id + 1024 WHERE id = ${id};
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema SELECT * FROM kept;`

  test('is reported when it is asked for as a record of its item, and by the doctor', async () => {
    const directory = await damagedBy(moved(recordId))
    const store = await openEmbeddedStore({ directory, log })
    await expect(store.reads('test').historyRecord(recordId, sampleKey('a'))).rejects.toThrow(DAMAGED_RECORD)
    expect(await store.reads('test').historyRecord(recordId, sampleKey('b'))).toBeUndefined()
    expect(await store.reads('test').historyRecord(recordId + 1, sampleKey('a'))).toBeUndefined()
    await store.close()
    expect(diagnose(directory).counts.damage).toBeGreaterThan(0)
  })
})

describe('a page of history', () => {
  test('names the damaged row that one of its records answers', async () => {
    const directory = await damagedBy("UPDATE config_revision SET app_name = 'other' WHERE op = 'I'")
    const store = await openEmbeddedStore({ directory, log })
    await expect(store.reads('test').history([sampleKey('a')], { pageNo: 1, pageSize: 1 })).rejects.toThrow(
      DAMAGED_RECORD,
    )
    await store.close()
  })

  test('does not read contents: a damaged one is reported when its record is read', async () => {
    const directory = await damagedBy("UPDATE config_revision SET content = x'ff' WHERE op = 'I'")
    const store = await openEmbeddedStore({ directory, log })
    expect((await store.reads('test').history([sampleKey('a')], WHOLE)).entries).toHaveLength(2)
    await expect(store.reads('test').historyRecord(recordId)).rejects.toThrow(DAMAGED_RECORD)
    await store.close()
  })
})

describe('a list of tables that is not ours', () => {
  test.each([
    ['a column of another name', "sql = replace(sql, 'src_ip', 'src_iq')"],
    ['a name that is no UTF-8', "sql = replace(sql, 'src_ip', CAST(x'73ff' AS TEXT))"],
    ['a column of another type', "sql = replace(sql, 'grouped_name TEXT', 'grouped_name TEXU')"],
    ['an index over other columns', "sql = replace(sql, '(name_id, hidden)', '(name_id, at_ms)')"],
    ['a table that begins elsewhere', "rootpage = rootpage + 1 WHERE name = 'instance'"],
    ['a later table with a column of another name', "sql = replace(sql, 'signed_in_by', 'signed_in_bz')"],
    [
      'a later table that begins where another one does',
      "rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'record') WHERE name = 'audit'",
    ],
  ])('%s is refused, and the doctor knows', async (_, change) => {
    const directory = await damagedBy(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET ${change}`)
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/damaged.*waypost doctor/s)
    expect(diagnose(directory).counts.damage).toBeGreaterThan(0)
  })
})

async function damagedBy(sql: string): Promise<string> {
  const directory = await mkdtemp(join(base, 'damaged-'))
  await cp(sound, directory, { recursive: true })
  const database = new Database(join(directory, 'waypost.db'))
  database.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA journal_mode = DELETE; ${sql}`)
  database.close()
  return directory
}

async function loaded(directory: string): Promise<void> {
  const store = await openEmbeddedStore({ directory, log })
  try {
    await store.load()
  } finally {
    await store.close()
  }
}
