import type { Revision } from '../core/engine/ports.ts'

/** The file of a store while it does not change: it is complete, and its log is empty. */
export interface HeldFile {
  /** The last revision that it holds. */
  readonly revision: Revision
  readonly bytes: number
}

/**
 * The second port of a store, beside `Store`, for a store in a local file, which a running server can back up. A store for
 * several servers lacks it; operators use that store's own tools. The composition root joins the two ports.
 */
export interface LocalFile {
  /** Brings everything into the one file and leaves it alone until `release`; writes go to the log. Throws if it cannot. */
  hold(): Promise<HeldFile>
  /** Lets the file change again. False if it was not held all the time: the store was opened again meanwhile. */
  release(): Promise<boolean>
}

/** Called with the progress of long work; `total` is 0 if it is unknown. */
export type OnProgress = (step: string, done: number, total: number) => void

/** One thing that an examination found. Whole sentences, for people. */
export interface Finding {
  /** `damage` needs a person; a `note` is normal, or heals itself. */
  readonly severity: 'damage' | 'note'
  /** The place: file, table, row or page. */
  readonly place: string
  readonly problem: string
  /** The effect for users of the server. */
  readonly effect: string
  /** The data that a salvage leaves out because of it; absent if a salvage loses nothing by it. */
  readonly leavesOut?: string
}

/** The result of an examination. */
export interface Examination {
  readonly directory: string
  /** How many findings there are; `findings` has the first thousand with a `leavesOut`, of other damage, and of notes. */
  readonly counts: { readonly damage: number; readonly notes: number }
  readonly findings: readonly Finding[]
  /** The number of findings with a `leavesOut`. */
  readonly leftOut: number
  /** Sound rows of each table. */
  readonly rows: Readonly<Record<string, number>>
  readonly bytes: number
}

/** The facts of a backup in its file backup.json. */
export interface BackupFacts {
  /** The format of the store. */
  readonly format: number
  /** The version of Waypost that made it. */
  readonly version: string
  /** The revision of the backup: it holds every change up to this one, and no later one. */
  readonly revision: Revision
  /** When it began, epoch milliseconds: it holds everything that was acknowledged before. */
  readonly createdMs: number
  readonly label: string
  /** Size of the file in bytes. */
  readonly size: number
  /** The digest of the file, in hex. */
  readonly sha256: string
}

/** A backup that was made now. */
export interface BackupOfDirectory extends BackupFacts {
  readonly path: string
}

/** A place that the work cannot use: it is in use, is not empty, or belongs to another version of Waypost. */
export class NotExaminable extends Error {}

/** A place that holds no store and no backup, or the database of another program. */
export class NothingStored extends Error {}

/** A store or a backup that is damaged, or a copy that became so on the way. */
export class DamagedStore extends Error {}

/** The errors about a place by a word for each, which can cross to another thread or process. */
const PLACE_ERRORS = { unusable: NotExaminable, absent: NothingStored, damaged: DamagedStore }

/** The kind of an error about a place. */
export type PlaceProblem = keyof typeof PLACE_ERRORS

/** The kind of place error of an error or of its causes; undefined for other errors. */
export function placeProblemOf(error: unknown): PlaceProblem | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    for (const [problem, type] of Object.entries(PLACE_ERRORS))
      if (cause instanceof type) return problem as PlaceProblem
  return undefined
}

/** The error with this text about a place, or a plain error. */
export function placeError(problem: PlaceProblem | undefined, message: string): Error {
  return new (problem === undefined ? Error : PLACE_ERRORS[problem])(message)
}

/**
 * The part of the second port for stopped servers: the commands backup, restore and doctor use it on directories. All
 * methods throw NotExaminable and NothingStored; all but `examine` throw DamagedStore.
 */
export interface DirectoryTools {
  /** Refuses a directory that exists and is not empty. */
  refuseUsed(directory: string): void
  /** Examines a copy of the store in a data directory. */
  examine(directory: string, onProgress: OnProgress): Promise<Examination>
  /** Copies the store of a stopped server, and verifies the copy. */
  backup(
    directory: string,
    options: { readonly to: string; readonly label: string; readonly version: string },
    onProgress: OnProgress,
  ): Promise<BackupOfDirectory>
  /** Verifies a backup without changing it. */
  verify(backup: string, onProgress: OnProgress): Promise<BackupFacts>
  /** Verifies a backup, and copies it into a new data directory. */
  restore(backup: string, directory: string, onProgress: OnProgress): Promise<BackupFacts>
}
