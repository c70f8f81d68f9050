import { shownNumber, t } from '../language/text.ts'
import type { GrayRule, GrayType, GrayVersion } from '../server/gray.ts'

/** The ways to say for whom a text is. `clients` are chosen from the clients that listen, `ips` are typed: both are addresses. */
export const AUDIENCE_KINDS = ['all', 'clients', 'ips', 'tag', 'labels', 'percent'] as const

/** One of {@link AUDIENCE_KINDS}. */
export type AudienceKind = (typeof AUDIENCE_KINDS)[number]

/** For whom a text is, while somebody says it. */
export interface Audience {
  readonly kind: AudienceKind
  /** Addresses separated by commas, a tag, labels or a share. */
  readonly expr: string
  /** The name of the version; counts for labels and shares. */
  readonly name: string
}

/** A text is for all unless somebody says otherwise. */
export const FOR_ALL: Audience = { kind: 'all', expr: '', name: '' }

const TYPES: Readonly<Record<Exclude<AudienceKind, 'all'>, GrayType>> = {
  clients: 'beta',
  ips: 'beta',
  tag: 'tag',
  labels: 'tagv2',
  percent: 'percent',
}

/** Whether versions of this kind have a name that their author chooses. */
export const hasOwnName = (kind: AudienceKind): boolean => kind === 'labels' || kind === 'percent'

/** The rule; undefined for all. */
export function ruleOf({ kind, expr, name }: Audience): GrayRule | undefined {
  if (kind === 'all') return undefined
  const grayMatchRuleExp = expr.trim()
  const grayType = TYPES[kind]
  const grayName = hasOwnName(kind) ? name.trim() : kind === 'tag' ? `tag_${grayMatchRuleExp}` : 'beta'
  return { grayName, grayType, grayMatchRuleExp }
}

const SHARE = /^(100|\d{1,2})(\.\d{1,2})?$/

/** Whether everything is said. The server may still refuse it. */
export function isSaid({ kind, expr, name }: Audience): boolean {
  if (kind === 'all') return true
  if (expr.trim() === '' || (hasOwnName(kind) && name.trim() === '')) return false
  return kind !== 'percent' || (SHARE.test(expr.trim()) && Number(expr) <= 100)
}

/** The addresses of a list. */
export const addressesIn = (expr: string): string[] =>
  expr
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** The kind of question by which a version that is there may be given to other clients. */
const kindOf = (grayType: GrayType): AudienceKind =>
  ({ beta: 'clients', tag: 'tag', tagv2: 'labels', percent: 'percent' } as const)[grayType]

/** For whom a version is, as the fields have it. */
export const audienceOf = ({ grayType, grayMatchRuleExp, grayName }: GrayVersion): Audience => ({
  kind: kindOf(grayType),
  expr: grayMatchRuleExp,
  name: grayName,
})

/** For whom a version is, as people say it. */
export function audienceText({
  grayType,
  grayMatchRuleExp: expr,
}: Pick<GrayVersion, 'grayType' | 'grayMatchRuleExp'>): string {
  switch (grayType) {
    case 'beta':
      return t('grayFor.beta', { addresses: addressesIn(expr).join(', ') })
    case 'tag':
      return t('grayFor.tag', { tag: expr })
    case 'tagv2':
      return t('grayFor.tagv2', { labels: expr })
    case 'percent':
      return t('grayFor.percent', { share: shownNumber(Number(expr)) })
  }
}
