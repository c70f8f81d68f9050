import type { Examination, OnProgress } from '../../local-file.ts'
import { statSync } from 'node:fs'
import type { SqliteConnection } from '../database/connection.ts'
import {
  databasePath,
  isThere,
  markerPath,
  readMarker,
  refuseWithoutStore,
} from '../database/data-directory.ts'
import { databaseRefusal, FORMAT, markerRefusal, PAGE_BYTES } from '../database/format.ts'
import { Findings } from '../../finding.ts'
import { takeInventory, type Inventory } from './inventory.ts'
import { judgeReferences } from './judge-references.ts'
import type { LogFacts } from './log-facts.ts'
import type { RowsLeftOut } from './left-out.ts'
import { checkStructure } from './sqlite-check.ts'
import { openCopy, openPrivate, type StoreFile } from './store-file.ts'
import { type RowSource, StoreRows } from './store-rows.ts'

/** How a directory is examined. */
export interface ExamineOptions {
  /**
   * An empty directory for a copy of the database, which is examined instead. Undefined if nobody else can use the database,
   * such as a backup: it then needs no lock and is read in place.
   */
  readonly copyTo: string | undefined
  /** Nothing is written into the directory, not even a lock. */
  readonly isTraceless?: boolean
  readonly onProgress: OnProgress
}

/** The parts of an examination that a salvage continues with; they hold the files open until `close`. */
export interface Examined {
  readonly examination: Examination
  /** Undefined if nothing can be read. */
  readonly found:
    | {
        readonly rows: RowSource
        readonly inventory: Inventory
        readonly leftOut: RowsLeftOut
        readonly isDamaged: boolean
      }
    | undefined
  close(): void
}

const NOTHING_LEFT = 'Nothing can be salvaged. Bring a backup back with `waypost restore`.'

/** Examines the store in a stopped server's data directory, without writing there. Throws NotExaminable, NothingStored. */
export function examine(directory: string, options: ExamineOptions): Examination {
  const examined = openExamined(directory, options)
  examined.close()
  return examined.examination
}

/** As `examine`, for a caller that needs the rows that were read, too. */
export function openExamined(directory: string, options: ExamineOptions): Examined {
  const { copyTo, isTraceless = false, onProgress } = options
  const findings = new Findings()
  checkMarker(directory, findings)
  if (!hasDatabase(directory, findings)) return examinedOf({ directory, findings, bytes: 0 }, undefined)
  const file =
    copyTo === undefined ? openPrivate(directory) : openCopy(directory, { copyTo, isTraceless, onProgress })
  const subject = { directory, findings, bytes: file.bytes }
  try {
    return { ...examinedOf(subject, read(file, subject, onProgress)), close: () => file.close() }
  } catch (error) {
    file.close()
    throw error
  }
}

interface Subject {
  readonly directory: string
  readonly findings: Findings
  readonly bytes: number
}

function examinedOf({ directory, findings, bytes }: Subject, found: Examined['found']): Examined {
  const rows = Object.fromEntries(found?.inventory.counts ?? [])
  const { counts, kept, leftOut } = findings
  const examination = { directory, counts, findings: kept, leftOut, rows, bytes }
  return { examination, found, close: () => {} }
}

function read(file: StoreFile, { directory, findings }: Subject, onProgress: OnProgress): Examined['found'] {
  const { opened } = file
  if ('problem' in opened) {
    findings.damage('waypost.db, page 1', {
      problem: `SQLite cannot open the file: ${opened.problem}.`,
      effect: 'The server cannot open it either.',
      leavesOut: NOTHING_LEFT,
    })
    return undefined
  }
  const { connection } = opened
  const format = checkFormat(directory, connection, findings)
  checkLength(file, opened.pageCount, findings)
  if (file.log !== undefined) checkLog(file.log, findings)
  onProgress('checking the structure of the file', 0, 0)
  checkStructure(connection, findings, format === FORMAT)
  const rows = new StoreRows(connection)
  const inventory = takeInventory(rows, findings, onProgress)
  if (inventory.counts.size > 0) {
    const leftOut = judgeReferences(rows, inventory, findings)
    return { rows, inventory, leftOut, isDamaged: findings.counts.damage > 0 }
  }
  findings.damage('waypost.db', {
    problem: 'No row of any table can be read.',
    effect: 'The server does not start.',
    leavesOut: NOTHING_LEFT,
  })
  return undefined
}

function checkMarker(directory: string, findings: Findings): void {
  if (!isThere(markerPath(directory))) {
    refuseWithoutStore(directory)
    findings.note('waypost.json', {
      problem: 'The marker is missing.',
      effect: 'The next start writes it again.',
    })
    return
  }
  const marker = readMarker(directory)
  if (marker === undefined) {
    findings.damage('waypost.json', {
      problem: 'The marker cannot be read.',
      effect: 'The server does not start.',
    })
    return
  }
  refuse(markerRefusal(directory, marker))
}

function refuse(problem: Error | undefined): void {
  if (problem !== undefined) throw problem
}

function hasDatabase(directory: string, findings: Findings): boolean {
  const stat = statSync(databasePath(directory), { throwIfNoEntry: false })
  if (stat !== undefined && stat.size > 0) return true
  findings.damage('waypost.db', {
    problem: `The database is ${stat === undefined ? 'missing' : 'empty (0 bytes)'}, and waypost.json says that a server has used this directory.`,
    effect:
      'Everything that was stored is gone from here: a disk that is not mounted, a file removed or cut.',
    leavesOut:
      'Nothing can be salvaged. Check that the right disk is mounted, or bring a backup back with `waypost restore`.',
  })
  return false
}

/** Returns the format in the file's header. */
function checkFormat(directory: string, connection: SqliteConnection, findings: Findings): number {
  const applicationId = connection.number('PRAGMA application_id')
  const format = connection.number('PRAGMA user_version')
  // A database has no application id before its first commit.
  if (applicationId === 0) return format
  refuse(databaseRefusal(directory, { applicationId, format }))
  if (format === FORMAT) return format
  findings.damage('waypost.db, page 1', {
    problem: `The file says that it has format ${format}, which no version writes.`,
    effect: 'The server does not start.',
  })
  return format
}

function checkLength({ bytes, log }: StoreFile, pageCount: number, findings: Findings): void {
  const there = Math.floor(bytes / PAGE_BYTES)
  const inLog = [...(log?.pages ?? [])].filter((page) => page > there).length
  const missing = pageCount - there - inLog
  if (missing <= 0) return
  findings.damage('waypost.db', {
    problem: `The file was cut: it has ${bytes} bytes, and ${missing} of its ${pageCount} pages are missing.`,
    effect: 'The rows of those pages are lost; the consequences are listed below.',
    leavesOut: 'What was on those pages is left out.',
  })
}

function checkLog({ commits, commitsBehindDamage, tailBytes }: LogFacts, findings: Findings): void {
  if (tailBytes === 0) return
  if (commitsBehindDamage > 1) {
    findings.damage('waypost.db-wal', {
      problem: `The log is damaged after ${commits} commits: about ${commitsBehindDamage} later ones cannot be read.`,
      effect: 'The newest changes are lost, from that place on.',
      leavesOut: 'The changes from that place on are left out.',
    })
    return
  }
  findings.note('waypost.db-wal', {
    problem: `${tailBytes} bytes after the last whole commit are not used.`,
    effect:
      'Normal after a crash: they are older, or of a change that was not finished and not acknowledged.',
  })
}
