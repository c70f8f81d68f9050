import { BETA_NAME, betaRule, type GrayRule, tagName, tagRule } from '../../core/config/state/gray-rule.ts'

/** The gray version that a publish is for, as clients of the reference server say it. */
export interface GrayRelease {
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
