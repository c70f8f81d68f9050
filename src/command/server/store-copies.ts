import type { Settings } from '../../settings/settings.ts'
import type { BackupOfDirectory, Examination, Finding, OnProgress } from '../../store/local-file.ts'

/** A store: in a directory (of a stopped server, or a backup), or in etcd, as settings name it. */
export type StorePlace = { readonly directory: string } | { readonly etcd: Settings }

/** The result of a copy. */
export interface Copied {
  /** How many things of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** The revision of the source. */
  readonly revision: number
  /** Whether an interrupted copy was continued. */
  readonly isContinued: boolean
}

/** The result of a salvage. */
export interface Salvaged {
  /** How many things of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** The rows left out: the number of findings about them, and the first findings. */
  readonly leftOut: { readonly count: number; readonly findings: readonly Finding[] }
}

/** The commands' work on stores in etcd. Servers may use a store that is read. All throw NotExaminable for a wrong place. */
export interface StoreCopies {
  /** Copies a store into an empty place, or continues a copy. Leaves out data that belongs to one installation alone. */
  copy(from: StorePlace, to: StorePlace, onProgress: OnProgress): Promise<Copied>
  /** Copies everything that can be read and breaks no rule into an empty place. Nothing is written into the source. */
  salvage(from: StorePlace, to: StorePlace, onProgress: OnProgress): Promise<Salvaged>
  /** Writes the store in etcd as a backup, at one revision. */
  backup(
    etcd: Settings,
    options: { readonly to: string; readonly label: string; readonly version: string },
    onProgress: OnProgress,
  ): Promise<BackupOfDirectory>
  /** Verifies a backup, and copies it into an empty prefix. */
  restore(backup: string, etcd: Settings, onProgress: OnProgress): Promise<Copied>
  /** Examines the whole store in etcd. */
  examine(etcd: Settings, onProgress: OnProgress): Promise<Examination>
}
