import { loadSettings, type Settings } from '../../settings/settings.ts'
import { SettingsError } from '../../settings/sources.ts'
import { placeProblemOf } from '../../store/local-file.ts'
import { DiffersError, messageOf, UsageError } from '../command-line.ts'

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
