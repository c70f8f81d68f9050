import { UsageError } from './command-line.ts'

/** The flags with which other commands find data in etcd. */
export const ETCD_FLAGS = { 'etcd-endpoints': { type: 'string' }, 'etcd-prefix': { type: 'string' } } as const

/** Throws a UsageError for a command that works on a data file, where the user has named etcd. */
export function refuseEtcd(flags: { readonly 'etcd-endpoints'?: string | undefined }): void {
  if (flags['etcd-endpoints'] !== undefined)
    throw new UsageError(
      'Servers on etcd have no data file. Use the tools of etcd: `etcdctl snapshot save` and `etcdutl snapshot restore` (docs/cluster.md).',
    )
}
