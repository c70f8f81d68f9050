import type { Settings } from '../../settings/settings.ts'
import type { BackupOfDirectory, Examination, Finding, OnProgress } from '../../store/local-file.ts'

/** A store: in a directory (of a stopped server, or a backup), or in etcd, as settings name it. */
export type StorePlace = { readonly directory: string } | { readonly etcd: Settings }

/** What a copy has written. */
export interface Copied {
  /** How many things of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** The revision of the source. */
  readonly revision: number
  /** Whether an interrupted copy was continued. */
  readonly isContinued: boolean
}

/** What a salvage has copied. */
export interface Salvaged {
  /** How many things of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** What it has left out: how many findings say so, and the first of them. */
  readonly leftOut: { readonly count: number; readonly findings: readonly Finding[] }
}

/** What commands do with stores in etcd. Servers may work on a store that is read. All throw NotExaminable for a wrong place. */
export interface StoreCopies {
  /** Copies a store into an empty place, or continues to. What belongs to one installation alone is left out. */
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
  /** Reads all of the store in etcd, and says what is wrong. */
  examine(etcd: Settings, onProgress: OnProgress): Promise<Examination>
}
