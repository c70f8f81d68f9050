import type { ImportOutcome, ImportPolicy } from './configs.ts'
import { request } from './request.ts'
import type { Comparison } from './answers.ts'

export type { Comparison } from './answers.ts'

/** Compares two namespaces. */
export const compareNamespaces = (from: string, to: string): Promise<Comparison> =>
  request('GET', 'svc/v1/console/compare', { query: { from, to } })

/** An item to copy. */
export interface Copied {
  readonly id: string
  /** Its name there; absent: the name of the original. */
  readonly dataId?: string
  readonly group?: string
  /** The md5 that must be there, empty for nothing; absent: as the policy says. */
  readonly casMd5?: string
  /** The md5 of the original that was seen. */
  readonly fromMd5?: string
}

/** How to copy. */
export interface CopyOptions {
  readonly policy: ImportPolicy
  readonly comment?: string
  /** Only says what would happen. */
  readonly dryRun?: boolean
  /** The state that the dry run saw; rejects with the problem `config-changed` where it is another one by now. */
  readonly seenState?: string | undefined
}

/** Copies items into a namespace. */
export const copyConfigs = (
  to: string,
  copied: readonly Copied[],
  { policy, comment, dryRun, seenState }: CopyOptions,
): Promise<ImportOutcome> =>
  request('POST', 'svc/v1/cs/configs', {
    query: {
      clone: true,
      tenant: to || undefined,
      policy,
      comment: comment || undefined,
      dryRun: dryRun || undefined,
      seenState,
    },
    json: copied.map(({ id, dataId, group, casMd5, fromMd5 }) => ({
      cfgId: Number(id),
      dataId,
      group,
      casMd5,
      fromMd5,
    })),
  })
