import { request } from './request.ts'

/** An item that only one side has. */
export interface OneSided {
  readonly id: string
  readonly dataId: string
  readonly group: string
  readonly md5: string
}

/** An item that both sides have, with different contents. `id` is that of the item in `from`. */
export interface Differing {
  readonly id: string
  readonly dataId: string
  readonly group: string
  readonly fromMd5: string
  readonly toMd5: string
}

/** What two namespaces have in common, and what not. */
export interface Comparison {
  readonly equal: number
  readonly onlyInFrom: readonly OneSided[]
  readonly onlyInTo: readonly OneSided[]
  readonly different: readonly Differing[]
  readonly truncated: boolean
}

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
