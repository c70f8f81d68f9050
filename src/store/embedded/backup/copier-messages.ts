import type { BackupFacts, PlaceProblem } from '../../local-file.ts'

/** The task of the copying process. */
export interface CopyJob {
  /** The database file; it does not change until `copied` is answered. */
  readonly database: string
  /** The directory where the backup is made; its parent exists. */
  readonly draft: string
  /** The name of the finished backup. */
  readonly target: string
  readonly bytesPerSecond: number
  readonly facts: Omit<BackupFacts, 'size' | 'sha256' | 'format'>
}

/** Messages to the copying process: the job, then whether the database really stayed unchanged during the copy. */
export type ToCopier = { readonly kind: 'copy'; readonly job: CopyJob } | { readonly kind: 'left-alone' }

/** Messages from the copying process. */
export type FromCopier =
  | { readonly kind: 'progress'; readonly step: string; readonly done: number; readonly total: number }
  | { readonly kind: 'copied' }
  | { readonly kind: 'done'; readonly facts: BackupFacts }
  | { readonly kind: 'failed'; readonly message: string; readonly problem: PlaceProblem | undefined }

/** Messages to the thread that starts the copying process. */
export type ToCopierThread = ToCopier | { readonly kind: 'stop' }

/** Messages from that thread. `ended`: the process has ended, finished or not. */
export type FromCopierThread = FromCopier | { readonly kind: 'ended'; readonly stderr: string }
