import type { BackupFacts, PlaceProblem } from '../../local-file.ts'

/** What the copying process is to do. */
export interface CopyJob {
  /** The database file; it does not change until `copied` is answered. */
  readonly database: string
  /** Where the backup is made; its parent is there. */
  readonly draft: string
  /** The name that it gets when it is whole. */
  readonly target: string
  readonly bytesPerSecond: number
  readonly facts: Omit<BackupFacts, 'size' | 'sha256' | 'format'>
}

/** What goes to the copying process: the job, then whether the database was really left alone while it was copied. */
export type ToCopier = { readonly kind: 'copy'; readonly job: CopyJob } | { readonly kind: 'left-alone' }

/** What comes from the copying process. */
export type FromCopier =
  | { readonly kind: 'progress'; readonly step: string; readonly done: number; readonly total: number }
  | { readonly kind: 'copied' }
  | { readonly kind: 'done'; readonly facts: BackupFacts }
  | { readonly kind: 'failed'; readonly message: string; readonly problem: PlaceProblem | undefined }

/** What goes to the thread that starts the copying process. */
export type ToCopierThread = ToCopier | { readonly kind: 'stop' }

/** What comes from that thread: with `ended` the process is gone, whatever it had to do. */
export type FromCopierThread = FromCopier | { readonly kind: 'ended'; readonly stderr: string }
