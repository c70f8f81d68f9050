import { DamagedBackup, NotExaminable } from '../../store/local-file.ts'
import { DiffersError, UsageError } from '../command-line.ts'

/** The flags with which other commands find data in etcd. */
export interface EtcdFlags {
  readonly etcdEndpoints?: string
  readonly etcdPrefix?: string
  readonly etcdUser?: string
  readonly etcdPasswordFile?: string
  readonly etcdCa?: string
  readonly etcdCert?: string
  readonly etcdKey?: string
}

/** Runs work on the directory of a stopped server. A directory that the work cannot use is a UsageError, damage a DiffersError. */
export async function ofStoppedServer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotExaminable) throw new UsageError(error.message, { cause: error })
    if (error instanceof DamagedBackup) throw new DiffersError(error.message, { cause: error })
    throw error
  }
}

/** Throws a UsageError for a command that works on a data file, where the user has named etcd. */
export function refuseEtcd({ etcdEndpoints }: EtcdFlags): void {
  if (etcdEndpoints !== undefined)
    throw new UsageError(
      'Servers on etcd have no data file. Use the tools of etcd: `etcdctl snapshot save` and `etcdutl snapshot restore` (docs/cluster.md).',
    )
}
