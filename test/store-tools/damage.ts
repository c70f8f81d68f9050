import type { Examination, Finding } from '../../src/store/local-file.ts'
import { closeSync, copyFileSync, cpSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import type { StoredInstance } from '../../src/core/engine/ports.ts'
import { openExamined } from '../../src/store/embedded/doctor/examine.ts'
import { salvage } from '../../src/store/embedded/doctor/salvage.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import {
  commitAll,
  imported,
  instanceSaved,
  published,
  sampleInstance,
  sampleKey,
  sampleService,
  serviceSaved,
} from '../store-contract/samples.ts'
import { temporaryDirectory } from '../support/waypost.ts'

export const PAGE = 8192
const QUIET = { info() {}, warn() {}, error() {} }

/** A stopped store with `count` items of three versions each, the contents long enough for pages of their own. */
export async function sampleStore(count = 60): Promise<string> {
  const directory = temporaryDirectory('store-')
  const store = await openEmbeddedStore({ directory, log: QUIET })
  await store.load()
  for (let number = 0; number < count; number++) {
    let previous: ConfigItem | undefined
    for (const version of [1, 2, 3]) {
      const change = published(sampleKey(`item-${number}`), { content: contentOf(number, version), previous })
      await store.commit([[change]])
      previous = change.item
    }
  }
  await store.close()
  return directory
}

/** A stopped store with one instance at 10.0.0.1:80. */
export async function instanceStore(): Promise<string> {
  const directory = temporaryDirectory('store-')
  const store = await openEmbeddedStore({ directory, log: QUIET })
  const service = sampleService('shop', 7)
  await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80), true))
  await store.close()
  return directory
}

/** A stopped store with imported records of a name whose item has not come. */
export async function importedStore(): Promise<string> {
  const directory = temporaryDirectory('store-')
  const store = await openEmbeddedStore({ directory, log: QUIET })
  const records = (['I', 'U'] as const).map((op) =>
    imported(sampleKey('past'), { op, content: Buffer.from(op) }),
  )
  await commitAll(store, ...records)
  await store.close()
  return directory
}

/** The content of a version: found again in the file by its first words. */
export function contentOf(number: number, version: number): string {
  return `content of ${number} in version ${version}. `.padEnd(number % 2 === 0 ? 200 : 12_000, `${version}`)
}

/** The database file of a directory. */
export function fileOf(directory: string): string {
  return join(directory, 'waypost.db')
}

/** Overwrites bytes of a file. */
export function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** Writes zeros over a page, counted from 1. */
export function zeroPage(path: string, page: number): void {
  overwrite(path, (page - 1) * PAGE, Buffer.alloc(PAGE))
}

/** The page where a table begins. */
export function rootOf(path: string, table: string): number {
  return Number(pagesIn(path, 'SELECT rootpage FROM sqlite_schema WHERE name = ?', table)[0])
}

/** The pages with the rows of a table, in order. */
export function leavesOf(path: string, table: string): number[] {
  return pagesIn(path, "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", table)
}

/** From a copy: this process keeps a database that it has opened. */
function pagesIn(path: string, sql: string, table: string): number[] {
  const copy = join(temporaryDirectory('pages-'), 'copy.db')
  copyFileSync(path, copy)
  const database = new Database(copy)
  try {
    return (database.prepare(sql).raw().all(table) as number[][]).flat()
  } finally {
    database.close()
  }
}

/** Turns one bit at a place. */
export function flipBit(path: string, at: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 1
  writeSync(file, byte, 0, 1, at)
  closeSync(file)
}

/** The position of a text in a file. */
export function placeOf(path: string, text: string): number {
  const at = readFileSync(path).indexOf(text)
  if (at < 0) throw new Error(`"${text}" does not stand in the file`)
  return at
}

/** The pages of a tree, by the kind of page: 13 for rows of tables, 5 for what leads to them, 10 and 2 of indexes. */
export function pagesOfKind(path: string, kind: number): number[] {
  const bytes = readFileSync(path)
  const pages = []
  for (let page = 2; page <= bytes.length / PAGE; page++)
    if (bytes[(page - 1) * PAGE] === kind) pages.push(page)
  return pages
}

/** Changes a stopped store behind the server's back. */
export function alter(directory: string, sql: string): void {
  const database = new Database(fileOf(directory))
  database.exec('PRAGMA journal_mode = DELETE')
  database.exec(sql)
  database.close()
}

/** Salvages a directory in this process. Without a `target` nothing of it can be read. */
export function salvaged(directory: string): { examination: Examination; target: string | undefined } {
  const copyTo = temporaryDirectory('examined-')
  const { examination, found, close } = openExamined(directory, {
    copyTo,
    isTraceless: true,
    onProgress() {},
  })
  const target = found && `${directory}-salvaged`
  if (target !== undefined) salvage(found!, target, () => {})
  close()
  return { examination, target }
}

/** A copy of a directory: a process that has looked at a database keeps it until it ends. */
export function copyOf(directory: string): string {
  const copy = temporaryDirectory('copy-')
  cpSync(directory, copy, { recursive: true })
  return copy
}

/** The report of the doctor about a directory. */
export function diagnose(directory: string): Examination & { damage: Finding[] } {
  const copyTo = temporaryDirectory('examined-')
  const { examination, close } = openExamined(directory, { copyTo, onProgress() {} })
  close()
  return { ...examination, damage: examination.findings.filter(({ severity }) => severity === 'damage') }
}

/** Every instance of a stopped store, read as a server reads it. */
export async function instancesOf(directory: string): Promise<readonly StoredInstance[]> {
  const store = await openEmbeddedStore({ directory, log: QUIET })
  try {
    return (await store.load()).instances
  } finally {
    await store.close()
  }
}

/** Every content of a stopped store by dataId, read as a server reads it. */
export async function contentsOf(directory: string): Promise<Map<string, string>> {
  const items = await itemsOf(directory)
  return new Map([...items].map(([dataId, { content }]) => [dataId, content.toString()]))
}

/** The items of a stopped store by their dataId, as a server loads them. */
export async function itemsOf(directory: string): Promise<Map<string, ConfigItem>> {
  const store = await openEmbeddedStore({ directory, log: QUIET })
  try {
    const { configs } = await store.load()
    return new Map(configs.map((item) => [item.key.dataId, item]))
  } finally {
    await store.close()
  }
}
