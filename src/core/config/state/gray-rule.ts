import { fieldsOf, numberIn, textIn } from '../../records/shape.ts'
import { Refusal } from '../../refusal.ts'
import { LOOK_LIMITS } from './look-limits.ts'

/**
 * The clients of a gray version. `beta`: some addresses. `tag`: clients with one tag. `tagv2`: clients whose labels
 * match an expression. `percent`: a share of all clients; no other server has it.
 */
export const GRAY_RULE_TYPES = ['beta', 'tag', 'tagv2', 'percent'] as const

/** One of {@link GRAY_RULE_TYPES}. */
export type GrayRuleType = (typeof GRAY_RULE_TYPES)[number]

/**
 * Selects the clients of a gray version. `expr` is kept as sent: addresses separated by commas, a tag, an expression of
 * labels, or a share of 100. A client gets the matching version with the highest priority, then with the first name.
 */
export interface GrayRule {
  readonly type: GrayRuleType
  readonly version: string
  readonly expr: string
  readonly priority: number
}

/** Fixed priorities: addresses win over a tag, and both over all other rules. */
export const BETA_PRIORITY = 2_147_483_647
export const TAG_PRIORITY = 2_147_483_646

/** The name of the version for some addresses: an item has at most one. */
export const BETA_NAME = 'beta'
/** Names of versions for a tag begin so. */
const TAG_NAME = 'tag_'

const LONGEST_NAME = 128
const ADDRESS_TEXT = /^[\w.:%-]{1,64}$/
const TAG_TEXT = /^[\w.:-]{1,128}$/
const NAME_TEXT = /^[\w.:-]+$/
const CONDITION_TEXT = /^\s*[\w.:-]+\s*=\s*[\w.:-]+\s*(?:,\s*[\w.:-]+\s*)*$/
const SHARE_TEXT = /^(100|\d{1,2})(\.\d{1,2})?$/

/** The rule for some addresses, separated by commas. Throws Refusal `gray-rule`. */
export function betaRule(addresses: string): GrayRule {
  return checkedRule({ type: 'beta', version: '1.0.0', expr: addresses, priority: BETA_PRIORITY })
}

/** The rule for a tag. Throws Refusal `gray-rule`. */
export function tagRule(tag: string): GrayRule {
  return checkedRule({ type: 'tag', version: '1.0.0', expr: tag, priority: TAG_PRIORITY })
}

/** The name of the version for a tag. */
export function tagName(tag: string): string {
  return TAG_NAME + tag
}

/** The rule itself. Throws Refusal `gray-rule` for an invalid rule, or one that is too large. */
export function checkedRule(rule: GrayRule): GrayRule {
  const { type, version, expr, priority } = rule
  const longest = type === 'tagv2' ? LOOK_LIMITS.labelLetters : LOOK_LIMITS.ruleLetters
  if (expr.length > longest) throw refusedRule(EXPR_NAMES[type], `at most ${longest} characters long`)
  if (!Number.isInteger(priority) || priority < 0 || priority > BETA_PRIORITY)
    throw refusedRule('priority', `a whole number from 0 to ${BETA_PRIORITY}`)
  const versions: readonly string[] = VERSIONS[type]
  if (!versions.includes(version)) throw refusedRule('version', versions.join(' or '))
  CHECKS[type](expr, version)
  return rule
}

/** Throws Refusal `gray-rule` for a name that a version with this rule cannot have. */
export function checkGrayName(name: string, { type, expr }: GrayRule): void {
  if (name.length > LONGEST_NAME || !NAME_TEXT.test(name))
    throw refusedRule('grayName', `1 to ${LONGEST_NAME} of the characters a-z A-Z 0-9 _ . : -`)
  const own = type === 'beta' ? BETA_NAME : type === 'tag' ? tagName(expr) : undefined
  if (own !== undefined && name !== own) throw refusedRule('grayName', `${own} for this rule`)
  if (own === undefined && (name === BETA_NAME || name.startsWith(TAG_NAME)))
    throw refusedRule('grayName', `another one than ${BETA_NAME}, and not begin with ${TAG_NAME}`)
}

/** The addresses of a list, without blanks around them. */
export function addressesOf(expr: string): string[] {
  return expr
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
}

/** A label that must have one of these values. */
export interface LabelCondition {
  readonly label: string
  readonly values: readonly string[]
}

/**
 * The texts of the conditions of an expression of labels, by groups: a client matches if it fulfils all conditions of one group.
 * Version 1.0.0 is `key=v1,v2`. Version 1.1.0 joins several with `&&` (within a group) and `||` (between groups).
 */
export function labelGroups(expr: string): string[][] {
  return expr.split('||').map((group) => (group.includes('&&') ? group.split('&&') : [group]))
}

/** Reads a condition. It is not checked here: rules are checked when they come, and read far more often. */
export function labelCondition(text: string): LabelCondition {
  const at = text.indexOf('=')
  const list = text.slice(at + 1)
  const values = list.includes(',') ? list.split(',').map((value) => value.trim()) : [list.trim()]
  return { label: labelName(text.slice(0, at).trim()), values }
}

/** Libraries spell one label in two ways: Java with dots, the others with underscores. */
export function labelName(name: string): string {
  return name === 'nacos_config_gray_label' ? 'nacos.config.gray.label' : name
}

/** The share of a rule in hundredths of a percent: 0 to 10,000. */
export function shareOf(expr: string): number {
  return Math.round(Number(expr) * 100)
}

/** How callers name `expr`: the header of addresses, the parameter of a tag, and the words of the documents. */
const EXPR_NAMES: Readonly<Record<GrayRuleType, string>> = {
  beta: 'betaIps',
  tag: 'tag',
  tagv2: 'labels',
  percent: 'share',
}

const VERSIONS: Readonly<Record<GrayRuleType, readonly string[]>> = {
  beta: ['1.0.0'],
  tag: ['1.0.0'],
  tagv2: ['1.0.0', '1.1.0'],
  percent: ['1.0.0'],
}

const CHECKS: Readonly<Record<GrayRuleType, (expr: string, version: string) => void>> = {
  beta: (expr) => {
    const addresses = addressesOf(expr)
    if (addresses.length === 0 || !addresses.every((one) => ADDRESS_TEXT.test(one)))
      throw refusedRule(EXPR_NAMES.beta, 'addresses, separated by commas')
  },
  tag: (expr) => {
    if (!TAG_TEXT.test(expr))
      throw refusedRule(EXPR_NAMES.tag, '1 to 128 of the characters a-z A-Z 0-9 _ . : -')
  },
  tagv2: (expr, version) => {
    const groups = version === '1.0.0' ? [[expr]] : labelGroups(expr)
    // Rules that were stored before this limit still count.
    if (groups.flat().length > LOOK_LIMITS.conditions)
      throw refusedRule(EXPR_NAMES.tagv2, `at most ${LOOK_LIMITS.conditions} conditions joined by && and ||`)
    for (const group of groups) checkGroup(group)
  },
  percent: (expr) => {
    if (!SHARE_TEXT.test(expr) || Number(expr) > 100)
      throw refusedRule(EXPR_NAMES.percent, 'a number from 0 to 100, with at most two decimals')
  },
}

const LABEL_ALLOWED = 'label=value, or label=value,value, of the characters a-z A-Z 0-9 _ . : -'

function checkGroup(group: readonly string[]): void {
  if (!group.every((condition) => CONDITION_TEXT.test(condition)))
    throw refusedRule(EXPR_NAMES.tagv2, LABEL_ALLOWED)
  if (new Set(group.map((condition) => labelCondition(condition).label)).size < group.length)
    throw refusedRule(EXPR_NAMES.tagv2, 'such that each label is named once between two ||')
}

function refusedRule(parameter: string, allowed: string): Refusal {
  const message = `The ${parameter} of this gray version must be ${allowed}.`
  return new Refusal('gray-rule', message, { parameter, allowed })
}

/** The rule that a store has as JSON. Throws an Error that names the field. */
export function grayRuleOf(json: unknown): GrayRule {
  const fields = fieldsOf(json)
  const type = GRAY_RULE_TYPES.find((one) => one === fields['type'])
  if (type === undefined) throw new Error('its rule is of no known type')
  return {
    type,
    version: textIn(fields, 'version'),
    expr: textIn(fields, 'expr'),
    priority: numberIn(fields, 'priority'),
  }
}
