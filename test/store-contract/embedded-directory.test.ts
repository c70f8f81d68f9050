import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/core/engine/ports.ts'
import { diagnose } from '../store-tools/damage.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { APPLICATION_ID, FORMAT } from '../../src/store/embedded/database/format.ts'
import { publishAll, sampleKey } from './samples.ts'

const log = { info() {}, warn() {}, error() {} }
let base: string
let directory: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'waypost-directory-'))
  directory = join(base, 'with space', 'and?mark#é')
})

afterEach(async () => {
  await rm(base, { recursive: true, force: true })
})

describe('the data directory of the embedded store', () => {
  test('is made with its parents, for its owner alone, and marked', async () => {
    await using(async () => {
      expect((await stat(directory)).mode & 0o777).toBe(0o700)
      expect((await stat(join(directory, 'waypost.db'))).size).toBeGreaterThan(0)
      const marker = JSON.parse(await readFile(join(directory, 'waypost.json'), 'utf8'))
      expect(marker).toEqual({ store: 'WPST', format: FORMAT, createdMs: expect.any(Number) })
    })
  })

  test('has files for their owner alone, also in a directory that others may enter', async () => {
    await mkdir(directory, { recursive: true, mode: 0o755 })
    await using(async (store) => {
      await publishAll(store, sampleKey('a'), ['1'])
      expect(await modesIn(directory)).toEqual({
        'waypost.db': '600',
        'waypost.db-wal': '600',
        'waypost.json': '600',
      })
    })
    expect((await stat(directory)).mode & 0o777).toBe(0o755)
  })

  test('keeps the modes that it has, and the log warns if everybody may read it', async () => {
    await using(async () => {})
    await chmod(directory, 0o755)
    await chmod(join(directory, 'waypost.db'), 0o644)
    const warnings: string[] = []
    const warn = (_facts: object, text: string) => void warnings.push(text)
    await (await openEmbeddedStore({ directory, log: { ...log, warn } })).close()
    expect(warnings).toEqual([expect.stringContaining('Every user of this machine may read the database')])
    expect(await modesIn(directory)).toMatchObject({ 'waypost.db': '644' })

    await chmod(directory, 0o700)
    await (await openEmbeddedStore({ directory, log: { ...log, warn } })).close()
    expect(warnings).toHaveLength(1)
  })

  test('belongs to one server at a time', async () => {
    await using(async () => {
      const second = openEmbeddedStore({ directory, log })
      await expect(second).rejects.toThrow(
        `The data directory ${directory} is in use: another Waypost server`,
      )
    })
    await using(async (store) => expect((await store.load()).configs).toEqual([]))
  })

  test('is refused if its database is missing', async () => {
    await using((store) => publishAll(store, sampleKey('a'), ['1']))
    await rm(join(directory, 'waypost.db'))
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(
      /data directory .*and\?mark.* missing or empty/,
    )
    await expect(stat(join(directory, 'waypost.db'))).rejects.toThrow('ENOENT')
  })

  test('is refused if its database is empty', async () => {
    await using((store) => publishAll(store, sampleKey('a'), ['1']))
    await truncate(join(directory, 'waypost.db'), 0)
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/waypost\.db is missing or empty/)
  })

  test('is refused if its marker or its database has a newer format', async () => {
    await using(async () => undefined)
    const refusal = `has format 9, and this version of Waypost reads format ${FORMAT}`
    changeDatabase('PRAGMA user_version = 9')
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(refusal)
    changeDatabase(`PRAGMA user_version = ${FORMAT}`)
    await writeFile(join(directory, 'waypost.json'), '{"store":"WPST","format":9}')
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(refusal)
  })

  test.each([1, 2, 3, 4])(
    'is refused when a development build of format %i wrote its database or its marker',
    async (format) => {
      await using(async () => undefined)
      const refusal = /data directory .*and\?mark.* development build .*waypost export/
      for (const mark of [0x57415950, APPLICATION_ID]) {
        changeDatabase(`PRAGMA application_id = ${mark}; PRAGMA user_version = ${format}`)
        await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(refusal)
      }
      changeDatabase(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`)
      await using(async (store) => expect((await store.load()).configs).toEqual([]))
      await writeFile(join(directory, 'waypost.json'), `{"format":${format},"createdMs":5}`)
      await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(refusal)
      expect(await readFile(join(directory, 'waypost.json'), 'utf8')).toContain(`"format":${format}`)
      await writeFile(join(directory, 'waypost.json'), `{"store":"WPST","format":${format},"createdMs":5}`)
      await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(refusal)
    },
  )

  test('is refused if its database has format 0, which no version writes', async () => {
    await using(async () => undefined)
    changeDatabase('PRAGMA user_version = 0')
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/damaged: its format.*waypost doctor/)
    expect(diagnose(directory).findings).toMatchObject([{ place: 'waypost.db, page 1' }])
  })

  test('is refused if the database belongs to another program or is no database', async () => {
    await using(async () => undefined)
    changeDatabase('PRAGMA application_id = 1')
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow('a database of another program')
    await writeFile(join(directory, 'waypost.db'), 'x'.repeat(10_000))
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/database is damaged.*waypost doctor/)
  })

  test.each(['audit', 'instance'])('is refused if the table %s is missing', async (table) => {
    await using((store) => publishAll(store, sampleKey('a'), ['1']))
    changeDatabase(`DROP TABLE ${table}`)
    await expect(openEmbeddedStore({ directory, log })).rejects.toThrow(/damaged: its format or its tables/)
    expect(diagnose(directory).findings.map(({ problem }) => problem)).toEqual([
      'Its list of tables is not what Waypost writes.',
      `The page where it begins cannot be read: no such table: ${table}.`,
    ])
  })

  test('is refused at load if a row has changed', async () => {
    const versions = await using((store) => publishAll(store, sampleKey('a'), ['1', '2']))
    changeDatabase("UPDATE config_revision SET content = x'33' WHERE op = 'U'")
    const row = `The row ${versions[1]?.historyId} of the table config_revision is damaged`
    await using(async (store) => {
      await expect(store.load()).rejects.toThrow(row)
      await expect(store.load()).rejects.toThrow('waypost doctor')
    })
  })

  test('is refused at load if a row that another one needs is missing', async () => {
    await using((store) => publishAll(store, sampleKey('a'), ['1']))
    changeDatabase('DELETE FROM config_revision')
    await using(async (store) => {
      await expect(store.load()).rejects.toThrow(
        'The row 1 of the table config_item is damaged: its content is missing',
      )
    })
  })
})

async function using<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openEmbeddedStore({ directory, log })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Changes the database behind the store's back. `exec` alone: it leaves no statement that holds the file. */
function changeDatabase(sql: string): void {
  const database = new Database(join(directory, 'waypost.db'))
  database.exec(sql)
  database.close()
}

async function modesIn(place: string): Promise<Record<string, string>> {
  const names = await readdir(place)
  const modes = await Promise.all(names.map(async (name) => (await stat(join(place, name))).mode & 0o777))
  return Object.fromEntries(names.map((name, at) => [name, modes[at]!.toString(8)]))
}
