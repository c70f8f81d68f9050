import { loadSettings, type Settings } from '../../settings/settings.ts'
import { SettingsError } from '../../settings/sources.ts'
import {
  placeProblemOf,
  type Finding,
  type BackupOfDirectory,
  type Examination,
  type OnProgress,
} from '../../store/local-file.ts'
import { DiffersError, messageOf, UsageError } from '../../command/command-line.ts'

/** The flags with which other commands find data in etcd. */
export interface EtcdFlags {
  readonly etcdEndpoints?: string
  readonly etcdPrefix?: string
  readonly etcdUser?: string
  readonly etcdPasswordFile?: string
  readonly etcdCa?: string
  readonly etcdCert?: string
  readonly etcdKey?: string
  readonly secretsKeyFile?: string
  /** `etcd`, as for a server. */
  readonly store?: string
}

/**
 * Runs work on the store of a stopped server, a backup or a store in etcd. Throws a UsageError for an unusable place, and a
 * DiffersError for a missing or damaged store.
 */
export async function ofStoppedServer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const problem = placeProblemOf(error)
    if (problem === undefined) throw error
    const message = messageOf(error)
    throw problem === 'unusable'
      ? new UsageError(message, { cause: error })
      : new DiffersError(message, { cause: error })
  }
}

/** The etcd that flags name, read like the settings of a server. Throws a UsageError. */
export function etcdOf(place: EtcdFlags): Settings {
  if (place.etcdEndpoints === undefined)
    throw new UsageError('--etcd-endpoints is required: the members of etcd, such as http://10.0.0.1:2379')
  const given = {
    'etcd-endpoints': place.etcdEndpoints,
    'etcd-prefix': place.etcdPrefix,
    'etcd-user': place.etcdUser,
    'etcd-password-file': place.etcdPasswordFile,
    'etcd-ca': place.etcdCa,
    'etcd-cert': place.etcdCert,
    'etcd-key': place.etcdKey,
    'secrets-key-file': place.secretsKeyFile,
  }
  const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  try {
    return loadSettings({ flags, env: {} })
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.problems.join('\n'), { cause: error })
    throw error
  }
}

/** Whether the flags name etcd. Throws a UsageError if they name a directory too. */
export function namesEtcd(flags: EtcdFlags & { readonly dataDir?: string }): boolean {
  const isEtcd = flags.etcdEndpoints !== undefined || flags.store === 'etcd'
  if (isEtcd && flags.dataDir !== undefined)
    throw new UsageError('Give either --data-dir, or --etcd-endpoints for servers on etcd.')
  return isEtcd
}

/** Findings for people, and how many more there are of `count`. */
export function findingsText(findings: readonly Finding[], count: number): string {
  const hidden = count - findings.length
  return findings.map(findingText).join('') + (hidden > 0 ? `… and ${hidden} more\n` : '')
}

function findingText({ severity, place, problem, effect, leavesOut }: Finding): string {
  const lines = [`${severity === 'damage' ? 'DAMAGE' : 'note'}  ${place}`, problem, effect]
  if (leavesOut !== undefined) lines.push(`A salvage: ${leavesOut}`)
  return `${lines.join('\n        ')}\n`
}

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
  /** Confirms to servers that miss their data in etcd that these are lost. */
  confirmEmpty(etcd: Settings): Promise<{ place: string; member: string | undefined; keysLeft: number }>
  /** Examines the whole store in etcd. */
  examine(etcd: Settings, onProgress: OnProgress): Promise<Examination>
}
