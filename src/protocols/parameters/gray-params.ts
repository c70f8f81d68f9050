import {
  BETA_NAME,
  BETA_PRIORITY,
  checkedRule,
  checkGrayName,
  GRAY_RULE_TYPES,
  type GrayRuleType,
  TAG_PRIORITY,
  tagName,
} from '../../core/config/state/gray-rule.ts'
import type { GrayRelease } from './gray-of-clients.ts'
import { Type } from './schema.ts'

/** The default priority of a rule of labels or a share. */
const USUAL_PRIORITY = 100
const GIVEN_NAME =
  'The name of the gray version; that of an address list is beta, and that of a tag is tag_ and the tag.'

/** The name of a gray version. */
export const grayName = Type.String({ maxLength: 128, description: GIVEN_NAME })

/** For whom a version is, beside its kind. */
export const grayExpression = Type.String({
  maxLength: 8_192,
  description:
    'For whom: addresses (beta) or a tag; labels as key=v1,v2, joined by && and || in version 1.1.0; or a share of 100.',
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
  const { grayType: type, grayMatchRuleExp: expr, grayPriority: priority = usualPriority(type) } = params
  const joined = type === 'tagv2' && /&&|\|\|/.test(expr)
  const rule = checkedRule({
    type,
    expr,
    version: params.grayVersion ?? (joined ? '1.1.0' : '1.0.0'),
    priority,
  })
  const name = params.grayName ?? nameOf(type, expr)
  checkGrayName(name, rule)
  return { name, rule }
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
