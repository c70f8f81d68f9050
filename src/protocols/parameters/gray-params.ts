import {
  BETA_NAME,
  BETA_PRIORITY,
  checkedRule,
  checkGrayName,
  GRAY_RULE_TYPES,
  type GrayRuleType,
  TAG_PRIORITY,
  tagName,
  betaRule,
  type GrayRule,
  tagRule,
} from '../../core/config/state/gray-rule.ts'
import { Type } from './schema.ts'

/** The default priority of a rule of labels or a share. */
const USUAL_PRIORITY = 100
const GIVEN_NAME = 'The name of the gray version: beta for a list of addresses, tag_ and the tag for a tag.'

/** The name of a gray version. */
export const grayName = Type.String({ maxLength: 128, description: GIVEN_NAME })

/** For whom a version is, beside its kind. */
export const grayExpression = Type.String({
  maxLength: 8_192,
  description:
    'For whom: addresses (beta) or a tag; labels as key=v1,v2, joined by && and || in version 1.1.0; or a share of 100. ' +
    'Labels have at most 64 conditions and 2,048 characters.',
})

/** The priority of a version among those of its item. */
export const grayPriority = Type.Integer({
  minimum: 0,
  maximum: BETA_PRIORITY,
  description: 'The version with the highest one that matches counts.',
})

/** For whom a gray version is: its name, and its rule. */
export const GRAY_RELEASE_PARAMS = {
  grayName: Type.Optional(grayName),
  grayType: Type.Enum(GRAY_RULE_TYPES, { description: 'By addresses, a tag, labels or a share.' }),
  grayMatchRuleExp: grayExpression,
  grayVersion: Type.Optional(
    Type.Enum(['1.0.0', '1.1.0'], {
      description: 'The version of the expression; by default the one that fits.',
    }),
  ),
  grayPriority: Type.Optional(grayPriority),
}

/** The values of {@link GRAY_RELEASE_PARAMS}. */
export interface GrayReleaseParams {
  readonly grayName?: string
  readonly grayType: GrayRuleType
  readonly grayMatchRuleExp: string
  readonly grayVersion?: string
  readonly grayPriority?: number
}

/** The gray version that a request is about. Throws Refusal `gray-rule`. */
export function toGrayRelease(params: GrayReleaseParams): GrayRelease {
  const rule = toGrayRule(params)
  const name = params.grayName ?? nameOf(rule.type, rule.expr)
  checkGrayName(name, rule)
  return { name, rule }
}

/** The rule alone, whatever the name of its version. Throws Refusal `gray-rule`. */
export function toGrayRule(params: GrayReleaseParams): GrayRule {
  const { grayType: type, grayMatchRuleExp: expr, grayPriority: priority = usualPriority(type) } = params
  const joined = type === 'tagv2' && /&&|\|\|/.test(expr)
  return checkedRule({
    type,
    expr,
    version: params.grayVersion ?? (joined ? '1.1.0' : '1.0.0'),
    priority,
  })
}

function usualPriority(type: GrayRuleType): number {
  if (type === 'beta') return BETA_PRIORITY
  return type === 'tag' ? TAG_PRIORITY : USUAL_PRIORITY
}

/** Versions by labels and shares need a name of their own. */
function nameOf(type: GrayRuleType, expr: string): string {
  if (type === 'beta') return BETA_NAME
  return type === 'tag' ? tagName(expr) : ''
}

/** The gray version that a publish is for, as clients of the reference server say it. */
interface GrayRelease {
  readonly name: string
  readonly rule: GrayRule
}

/**
 * The gray version of a publish; undefined: it is for all clients. Addresses count before a tag. Throws Refusal
 * `gray-rule` for invalid addresses.
 */
export function grayOfClients({
  betaIps,
  tag,
}: {
  readonly betaIps: string | undefined
  readonly tag: string | undefined
}): GrayRelease | undefined {
  if (betaIps !== undefined) return { name: BETA_NAME, rule: betaRule(betaIps) }
  return tag === undefined ? undefined : { name: tagName(tag), rule: tagRule(tag) }
}

/** Dubbo 3 says so where it has read no item. It is no md5. */
const NO_ITEM = '0'

/** The `casMd5` of clients of Nacos as operations take it: empty where there must be no item. */
export function casOfClients(casMd5: string | undefined): string | undefined {
  return casMd5 === NO_ITEM ? '' : casMd5
}
