import type { ExplainedView, GrayItem, GrayVersion, GrayVersionText } from './answers.ts'
import type { ConfigName } from './configs.ts'
import { request } from './request.ts'

export type { ExplainedView, GrayItem, GrayVersion, GrayVersionText } from './answers.ts'

/** The kind of the rule of a gray version. */
export type GrayType = GrayVersion['grayType']

/** For whom a gray version is. */
export interface GrayRule {
  readonly grayName: string
  readonly grayType: GrayType
  readonly grayMatchRuleExp: string
  readonly grayPriority?: number | undefined
  readonly grayVersion?: string | undefined
}

const GRAY = 'svc/v1/cs/configs/gray'

/** All items with gray versions that the user may read. */
export const readAllGray = (): Promise<readonly GrayItem[]> =>
  request('GET', GRAY, { query: { namespaceId: '*' } })

/** The items with gray versions of a namespace. */
export const readGrayIn = (tenant: string): Promise<readonly GrayItem[]> =>
  request('GET', GRAY, { query: { namespaceId: tenant || undefined } })

/** The gray versions of an item, in the order in which they are asked whom they are for. */
export async function readGrayOf(name: ConfigName): Promise<readonly GrayVersion[]> {
  const { tenant, group, dataId } = name
  const query = { namespaceId: tenant || undefined, group, dataId }
  return (await request<readonly GrayItem[]>('GET', GRAY, { query })).flatMap(({ versions }) => versions)
}

/** A gray version with its text; rejects with the problem `gray-not-found`. */
export const readGrayText = (name: ConfigName, grayName: string): Promise<GrayVersionText> =>
  request('GET', `${GRAY}/version`, { query: { ...named(name), grayName } })

/** A text for some clients. `casMd5` is the md5 of the gray version that it replaces; empty: there is none. */
export interface GrayPublication extends ConfigName, GrayRule {
  readonly content: string
  readonly casMd5: string
  readonly comment: string
  readonly encryptedDataKey: string
  /** Counts where there is no version for all. */
  readonly type: string | undefined
}

/** Publishes a text for some clients; rejects with the problem `config-changed` where the author has not seen the version. */
export function publishGray(publication: GrayPublication): Promise<boolean> {
  const { content, casMd5, type, comment, encryptedDataKey } = publication
  const { grayName, grayType, grayMatchRuleExp, grayPriority, grayVersion } = publication
  const rule = { grayName, grayType, grayMatchRuleExp, grayPriority, grayVersion }
  const others = { comment: comment || undefined, encryptedDataKey: encryptedDataKey || undefined }
  return request('POST', GRAY, { form: { ...named(publication), ...rule, content, casMd5, type, ...others } })
}

/** A change of a gray version of which its author has seen the version with this md5: of a promotion, the one for all. */
interface GrayChange {
  readonly grayName: string
  readonly casMd5: string
  readonly comment?: string
}

/** Gives a gray version to other clients; its text stays. */
export const growGray = (
  name: ConfigName,
  change: GrayChange & { readonly grayMatchRuleExp: string },
): Promise<boolean> => request('PUT', GRAY, { query: { ...named(name), ...withoutEmpty(change) } })

/** Gives the text of a gray version to all, and ends all gray versions of the item. */
export const promoteGray = (name: ConfigName, change: GrayChange): Promise<boolean> =>
  request('POST', `${GRAY}/promote`, { form: { ...named(name), ...withoutEmpty(change) } })

/** Ends a gray version. */
export const stopGray = (name: ConfigName, change: GrayChange): Promise<boolean> =>
  request('DELETE', GRAY, { query: { ...named(name), ...withoutEmpty(change) } })

/** The known properties of a client. */
export interface KnownClient {
  readonly ip: string
  readonly tag: string
  /** `key=value`, separated by commas. */
  readonly labels: string
}

/** Which version of an item a client gets, and why. */
export const explainGray = (name: ConfigName, { ip, tag, labels }: KnownClient): Promise<ExplainedView> =>
  request('GET', `${GRAY}/explain`, {
    query: { ...named(name), ip: ip || undefined, tag: tag || undefined, labels: labels || undefined },
  })

/** A comment that nobody has typed is left out; an empty `casMd5` says that there is no version. */
const withoutEmpty = <T extends GrayChange>(change: T) => ({
  ...change,
  comment: change.comment || undefined,
})

const named = ({ tenant, group, dataId }: ConfigName) => ({ tenant: tenant || undefined, group, dataId })
