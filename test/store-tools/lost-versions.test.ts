import { cpSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import { VersionSums } from '../../src/store/embedded/rows/current-versions.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { withChecksums } from '../../src/store/embedded/rows/row-reader.ts'
import { TABLES } from '../../src/store/embedded/rows/tables.ts'
import { commitAll, deleted, published, sampleKey } from '../store-contract/samples.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import {
  alter,
  contentOf,
  contentsOf,
  copyOf,
  fileOf,
  itemsOf,
  overwrite,
  PAGE,
  salvaged,
  sampleStore,
} from './damage.ts'

// Nothing points to the newest version of an item: these are all the ways that one could be missing.

let sound: string
/** The newest versions of the items `item-0`, `item-1` and so on, whose names are numbered from 1. */
let newest: ReadonlyMap<string, ConfigItem>
beforeAll(async () => {
  sound = await sampleStore(20)
  newest = await itemsOf(sound)
})

const newestItem = (nameId: number) => newest.get(`item-${nameId - 1}`)!
const newestOf = (nameId: number) => newestItem(nameId).historyId
/** An id that is later than all of the sample. */
const laterId = () => newestOf(20) + 1_000

/** Has SQLite keep only some revisions in the index, as if a write to it, or to the table, had never reached the disk. */
function indexOnly(where: string): string {
  const sql = `CREATE INDEX config_revision_by_name ON config_revision (name_id, hidden) ${where}`.trim()
  return `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '${sql}' WHERE name = 'config_revision_by_name'`
}

/**
 * The message of a start on a copy of the store that is damaged by this SQL, step by step; the findings of the doctor, and the
 * salvaged data.
 */
async function outcomeOf(...steps: string[]) {
  const directory = copyOf(sound)
  for (const sql of steps) alter(directory, sql)
  const start = await contentsOf(directory).then(
    () => 'started',
    (error: unknown) => String(error),
  )
  const { examination, target } = salvaged(directory)
  return { start, findings: examination.findings, contents: await contentsOf(target!) }
}

/** Of the item 7, which is item-6. The values are there once the sample is. */
const DELETED = () => [laterId(), 7, newestItem(7).origin.id, 'D', newestOf(7), null, null, null, null]
const CREATED = () => [laterId(), 7, laterId() - 1, 'I', null, MD5_OF_1, 'text', '', '']
const MD5_OF_1 = 'c4ca4238a0b923820dcc509a6f75849b'
const BOTH = () => `DELETE FROM config_revision WHERE id IN (${newestOf(7)}, ${newestOf(9)})`
const [ITEM_6, ITEM_8] = ['item public/g/item-6', 'item public/g/item-8']

/** `lost`: the versions of items that a salvage does not have at their newest ones; 0: the item is left out. */
test.each<[string, () => string[], [start: RegExp, places: readonly string[], lost: Record<number, number>]]>(
  [
    [
      'a newest version that is missing in table and index is noticed by the sums, which name the item',
      () => [`DELETE FROM config_revision WHERE id = ${newestOf(7)}`],
      [/damaged: the newest versions.*waypost doctor/, [ITEM_6], { 6: 2 }],
    ],
    [
      'newest versions of two items that are missing are noticed, although the items cannot be named',
      () => [BOTH()],
      [/damaged/, ['waypost.db, tables config_item and config_revision'], { 6: 2, 8: 2 }],
    ],
    [
      'newest versions that are missing only in the table are known to the index',
      () => [indexOnly('WHERE id < 0'), BOTH(), indexOnly('')],
      [/damaged/, ['waypost.db', ITEM_6, ITEM_8], { 6: 2, 8: 2 }],
    ],
    [
      'a newest version that is missing only in the index is not lost',
      () => [indexOnly(`WHERE id <> ${newestOf(7)}`), 'REINDEX config_revision_by_name', indexOnly('')],
      [/damaged/, ['waypost.db'], {}],
    ],
    [
      'the versions of a missing item are left out',
      () => ['DELETE FROM config_item WHERE name_id = 7'],
      [/damaged/, [ITEM_6], { 6: 0 }],
    ],
    [
      'an item whose history ends with its deletion is left out',
      () => [revision([...DELETED(), '127.0.0.1', null, 5, null, 0, null]), setSums(0)],
      [/damaged/, [ITEM_6], { 6: 0 }],
    ],
    [
      'an item whose newest version is that of another item of its name has its own newest one',
      () => [revision([...CREATED(), '127.0.0.1', null, 5, null, 0, Buffer.from('1')]), setSums(laterId())],
      [/The row 7 of the table config_item is damaged: .*not one of its own/, [ITEM_6], {}],
    ],
    [
      'missing sums are computed again',
      () => ["DELETE FROM meta WHERE name = 'current_versions'"],
      [
        /The row current_versions of the table meta is damaged: it is missing/,
        ['waypost.db, table meta, row current_versions'],
        {},
      ],
    ],
  ],
)('%s', async (_title, steps, [start, places, lost]) => {
  const outcome = await outcomeOf(...steps())
  expect(outcome.start).toMatch(start)
  expect([...new Set(outcome.findings.map(({ place }) => place))]).toEqual(places)
  const versions = Array.from({ length: 20 }, (_, item) => [item, lost[item] ?? 3] as const)
  const left = versions.filter(([, version]) => version > 0)
  expect(outcome.contents).toEqual(
    new Map(left.map(([item, version]) => [`item-${item}`, contentOf(item, version)])),
  )
})

test('a page of an earlier state is refused, or has no effect', async () => {
  const [older, newer] = [temporaryDirectory('older-'), temporaryDirectory('newer-')]
  let items = await changed(older, new Map())
  items = await changed(older, items)
  cpSync(older, newer, { recursive: true })
  items = await changed(newer, items)
  const truth = new Map([...items.values()].map(({ key, content }) => [key.dataId, content.toString()]))
  expect(await contentsOf(newer)).toEqual(truth)
  const pages = readFileSync(fileOf(older))
  let refused = 0
  for (let page = 1; page < pages.length / PAGE; page++) {
    const directory = temporaryDirectory('stale-')
    cpSync(newer, directory, { recursive: true })
    overwrite(fileOf(directory), page * PAGE, pages.subarray(page * PAGE, (page + 1) * PAGE))
    const found = await contentsOf(directory).catch((error: unknown) => String(error))
    if (typeof found === 'string') {
      refused++
      expect(found, `page ${page + 1}`).toMatch(/waypost doctor/)
    } else expect(found, `page ${page + 1}`).toEqual(truth)
  }
  // Those of the items, their versions and the index of these, and of what says what there should be.
  expect(refused).toBeGreaterThan(3)
})

/** Publishes, changes and deletes 30 items by turns. Resolves with the items that are left. */
async function changed(directory: string, before: ReadonlyMap<string, ConfigItem>) {
  const store = await openEmbeddedStore({ directory, log: { info() {}, warn() {}, error() {} } })
  const items = new Map(before)
  for (let at = 0; at < 90; at++) {
    const name = `item-${(at * 7) % 30}`
    const previous = items.get(name)
    if (previous !== undefined && at % 11 === 0) {
      await commitAll(store, deleted(previous))
      items.delete(name)
      continue
    }
    const change = published(sampleKey(name), { content: `${before.size} ${at} `.repeat(20), previous })
    await commitAll(store, change)
    items.set(name, change.item)
  }
  await store.close()
  return items
}

/** A statement that adds a revision. */
function revision(values: readonly unknown[]): string {
  const row = withChecksums(TABLES.config_revision, values)
  // In the file the content comes after the checksums.
  const texts = [...row.slice(0, -3), ...row.slice(-2), ...row.slice(-3, -2)].map((value) => {
    if (value === null) return 'NULL'
    return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : JSON.stringify(value).replaceAll('"', "'")
  })
  return `INSERT INTO config_revision VALUES (${texts.join(', ')})`
}

/** A statement that sets the sums to those of the sample with another current version of the item with the number 7. */
function setSums(version: number): string {
  const nameIds = Array.from({ length: 20 }, (_, at) => at + 1)
  const items = nameIds.map((nameId) => ({ nameId, revisionId: nameId === 7 ? version : newestOf(nameId) }))
  const text = VersionSums.of(items).toString()
  const checksum = withChecksums(TABLES.meta, ['current_versions', text]).at(-1)
  return `UPDATE meta SET value = '${text}', checksum = ${checksum} WHERE name = 'current_versions'`
}
