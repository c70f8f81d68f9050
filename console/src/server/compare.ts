import { request } from './request.ts'
import type { Comparison } from './answers.ts'

export type { Comparison } from './answers.ts'

/** Compares two namespaces. */
export const compareNamespaces = (from: string, to: string): Promise<Comparison> =>
  request('GET', 'svc/v1/console/compare', { query: { from, to } })

/** An item to copy, if the target is still what was seen: the md5 there, empty where there is none. */
export interface Copied {
  readonly id: string
  readonly casMd5: string
}

/** What became of copies. */
export interface CopyOutcome {
  readonly succCount: number
  readonly skipData?: readonly { readonly dataId: string }[]
  readonly failData?: readonly { readonly dataId: string }[]
}

/** Copies items into a namespace. */
export const copyConfigs = (to: string, copied: readonly Copied[], comment: string): Promise<CopyOutcome> =>
  request('POST', 'svc/v1/cs/configs', {
    query: { clone: true, tenant: to || undefined, policy: 'OVERWRITE', comment: comment || undefined },
    json: copied.map(({ id, casMd5 }) => ({ cfgId: Number(id), casMd5 })),
  })
