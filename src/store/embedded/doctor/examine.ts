import { NotExaminable, type Examination, type OnProgress } from '../../local-file.ts'
import { existsSync, statSync } from 'node:fs'
import { databasePath, markerPath, readMarker } from '../data-directory.ts'
import { DatabaseFile, PAGE_BYTES } from '../file/database-file.ts'
import { databaseRefusal, FORMAT, markerRefusal } from '../format.ts'
import { Findings } from './finding.ts'
import { takeInventory, type Inventory } from './inventory.ts'
import { judgeReferences } from './judge-references.ts'
import type { RepairPlan } from './repair-plan.ts'
import { type Access, ReadLock } from './sqlite-check.ts'
import { StoreRows } from './store-rows.ts'

/** The parts of an examination that a repair goes on with; they hold the files open until `close`. */
export interface Examined {
  readonly examination: Examination
  /** Undefined where there is nothing to read. */
  readonly found:
    | { readonly rows: StoreRows; readonly inventory: Inventory; readonly plan: RepairPlan }
    | undefined
  close(): void
}

/** Examines the store in a stopped server's data directory, without writing. Throws NotExaminable. */
export function examine(directory: string, onProgress: OnProgress, access: Access = 'shared'): Examination {
  const examined = openExamined(directory, onProgress, access)
  examined.close()
  return examined.examination
}

/** As `examine`, for who goes on with what was read. */
export function openExamined(directory: string, onProgress: OnProgress, access: Access = 'shared'): Examined {
  const findings = new Findings()
  checkMarker(directory, findings)
  if (!hasDatabase(directory, findings)) {
    const examination = { directory, counts: findings.counts, findings: findings.kept, rows: {}, bytes: 0 }
    return { examination, found: undefined, close: () => {} }
  }
  // The lock first: it is what says that no server runs.
  const lock = new ReadLock(directory, access)
  const file = new DatabaseFile(databasePath(directory))
  const close = () => {
    lock.close()
    file.close()
  }
  try {
    checkHeader(directory, file, findings)
    onProgress('checking the structure of the file', 0, 0)
    lock.check(findings, file.format === FORMAT)
    const rows = new StoreRows(file)
    const inventory = takeInventory(rows, findings, onProgress)
    const plan = judgeReferences(rows, inventory, findings)
    const counts = Object.fromEntries(inventory.counts)
    const { counts: found, kept } = findings
    const examination = { directory, counts: found, findings: kept, rows: counts, bytes: file.bytes }
    return { examination, found: { rows, inventory, plan }, close }
  } catch (error) {
    close()
    throw error
  }
}

function checkMarker(directory: string, findings: Findings): void {
  if (!existsSync(markerPath(directory))) {
    if (!existsSync(databasePath(directory)))
      throw new NotExaminable(
        `The directory ${directory} holds no Waypost store: waypost.db and waypost.json are missing.`,
      )
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
      remedy: 'The marker is written again.',
    })
    return
  }
  refuse(markerRefusal(directory, marker))
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new NotExaminable(problem)
}

function hasDatabase(directory: string, findings: Findings): boolean {
  const stat = statSync(databasePath(directory), { throwIfNoEntry: false })
  if (stat !== undefined && stat.size > 0) return true
  findings.damage('waypost.db', {
    problem: `The database is ${stat === undefined ? 'missing' : 'empty (0 bytes)'}, and waypost.json says that a server has used this directory.`,
    effect:
      'Everything that was stored is gone from here: a disk that is not mounted, a file removed or cut.',
    remedy:
      'Nothing can be repaired. Check that the right disk is mounted, or bring a backup back with `waypost restore`.',
  })
  return false
}

function checkHeader(directory: string, file: DatabaseFile, findings: Findings): void {
  if (file.hasHeader) checkFormat(directory, file, findings)
  else
    findings.damage('waypost.db, page 1', {
      problem: 'The file does not begin as a database of Waypost does.',
      effect: 'The server cannot open it.',
      remedy: 'Rows are looked for where every file of this format has them.',
    })
  const missing = missingPages(file)
  if (missing > 0)
    findings.damage('waypost.db', {
      problem: `The file was cut: it has ${file.bytes} bytes, and ${missing} of its ${file.pageCount} pages are missing.`,
      effect: 'The rows of those pages are lost; the consequences are listed below.',
      remedy: 'Everything that is still there is saved.',
    })
  checkLog(file, findings)
}

function checkFormat(directory: string, file: DatabaseFile, findings: Findings): void {
  const applicationId = file.page(1)?.readUInt32BE(68) ?? 0
  const format = file.format ?? 0
  // A database has no application id before its first commit.
  if (applicationId === 0) return
  refuse(databaseRefusal(directory, { applicationId, format }))
  if (format === FORMAT) return
  findings.damage('waypost.db, page 1', {
    problem: `The file says that it has format ${format}, which no version writes.`,
    effect: 'The server does not start.',
    remedy: 'The format is written again.',
  })
}

function missingPages(file: DatabaseFile): number {
  let missing = 0
  for (let page = Math.floor(file.bytes / PAGE_BYTES) + 1; page <= file.pageCount; page++) {
    if (file.wal?.pages.has(page) !== true) missing++
  }
  return missing
}

function checkLog({ wal }: DatabaseFile, findings: Findings): void {
  if (wal === undefined || wal.tailBytes === 0) return
  if (wal.commitsBehindDamage > 1) {
    findings.damage('waypost.db-wal', {
      problem: `The log is damaged after ${wal.commits} commits: about ${wal.commitsBehindDamage} later ones cannot be read.`,
      effect: 'The newest changes are lost, from that place on.',
      remedy: 'The changes before that place are kept.',
    })
    return
  }
  findings.note('waypost.db-wal', {
    problem: `${wal.tailBytes} bytes after the last whole commit are not used.`,
    effect:
      'Normal after a crash: they are older, or of a change that was not finished and not acknowledged.',
  })
}
