import type { Viewer } from './viewer.ts'
import { addressesOf, type LabelCondition, labelCondition, labelGroups, labelName } from './gray-rule.ts'

/** Whether a rule is for a client. */
export type Match = (who: Viewer) => boolean

/** The kinds of rules whose texts are worth reading once. */
type ReadOnce = 'beta' | 'tagv2'

/** How many rules of a kind are kept read. */
export interface KeptRules {
  /** The letters of their texts: some ten bytes each. */
  readonly letters: number
  /** After so many looks at rules that are not kept, others are kept: reading a rule costs several looks at its text. */
  readonly passed: number
}

const KEPT: KeptRules = { letters: 2 * 1024 * 1024, passed: 100_000 }

/** How rules of a kind are read. */
export interface RuleReader {
  /** Reads a rule for many looks. */
  readonly read: (expr: string) => Match
  /** Looks at the text of a rule: for more rules than are kept read. */
  readonly look: (expr: string, who: Viewer) => boolean
}

/** The rules of a kind that were read, by their texts: equal rules are one. */
export class ReadRules {
  readonly #reader: RuleReader
  readonly #kept: KeptRules
  readonly #matches = new Map<string, Match>()
  #letters = 0
  #passed = 0

  constructor(reader: RuleReader, kept = KEPT) {
    this.#reader = reader
    this.#kept = kept
  }

  /** Whether a rule is for a client. */
  isFor(expr: string, who: Viewer): boolean {
    const known = this.#matches.get(expr)
    if (known !== undefined) return known(who)
    if (this.#letters + expr.length > this.#kept.letters) {
      if (++this.#passed < this.#kept.passed) return this.#reader.look(expr, who)
      this.#passed = 0
      this.#letters = 0
      this.#matches.clear()
    }
    const match = this.#reader.read(expr)
    this.#matches.set(expr, match)
    this.#letters += expr.length
    return match(who)
  }
}

const RULES: Readonly<Record<ReadOnce, ReadRules>> = {
  beta: new ReadRules({
    read: (expr) => {
      const addresses = new Set(addressesOf(expr))
      return ({ ip }) => addresses.has(ip)
    },
    look: (expr, { ip }) => hasValue(expr, ip),
  }),
  tagv2: new ReadRules({ read: labelMatch, look: labelLook }),
}

/** Whether a rule by addresses or labels is for a client. */
export function isRuleFor(kind: ReadOnce, expr: string, who: Viewer): boolean {
  return RULES[kind].isFor(expr, who)
}

/** Labels whose values a client has from elsewhere than its labels. */
const ADDRESS_LABEL = 'ClientIp'
const TAG_LABEL = 'Vipserver-Tag'

/** Groups of one condition are one map of label to values, so a look costs no more than the labels of the client. */
function labelMatch(expr: string): Match {
  // Version 1.0.0 has neither && nor ||, so one reader reads both.
  const singles = new Map<string, Values>()
  const joined: [string, Values][][] = []
  for (const group of labelGroups(expr)) {
    const [first, second] = group
    if (first !== undefined && second === undefined) addCondition(singles, labelCondition(first))
    else joined.push(group.map(labelCondition).map(({ label, values }) => [label, valuesOf(values)]))
  }
  const addresses = singles.get(ADDRESS_LABEL)
  const tags = singles.get(TAG_LABEL)
  singles.delete(ADDRESS_LABEL)
  singles.delete(TAG_LABEL)
  return (who) =>
    isAmong(addresses, who.ip) ||
    isAmong(tags, who.tag) ||
    hasOne(singles, who) ||
    joined.some((group) => group.every(([label, values]) => isAmong(values, valueOf(who, label))))
}

/** The same from the text alone: it keeps nothing, and costs less than reading the rule for many looks. */
export function labelLook(expr: string, who: Viewer): boolean {
  return labelGroups(expr).some((group) =>
    group.every((condition) => {
      const at = condition.indexOf('=')
      const value = valueOf(who, labelName(condition.slice(0, at).trim()))
      return value !== undefined && hasValue(condition.slice(at + 1), value)
    }),
  )
}

/** Whether a list has this value. Most parts are not as long as the value, and cost no text of their own. */
function hasValue(list: string, value: string): boolean {
  for (let at = 0, comma = 0; comma >= 0; at = comma + 1) {
    comma = list.indexOf(',', at)
    const end = comma < 0 ? list.length : comma
    const more = end - at - value.length
    if (more === 0 ? list.startsWith(value, at) : more > 0 && list.slice(at, end).trim() === value)
      return value !== ''
  }
  return false
}

/** A single value is itself: a set costs more than the reading of its rule. */
type Values = string | Set<string>

function valuesOf(values: readonly string[]): Values {
  const [first] = values
  return values.length === 1 && first !== undefined ? first : new Set(values)
}

function addCondition(byLabel: Map<string, Values>, { label, values }: LabelCondition): void {
  const known = byLabel.get(label)
  if (known === undefined) byLabel.set(label, valuesOf(values))
  else if (typeof known === 'string') byLabel.set(label, new Set([known, ...values]))
  else for (const value of values) known.add(value)
}

/** Walks the shorter side: stored rules may have more labels than a client, and clients more than a rule. */
function hasOne(singles: ReadonlyMap<string, Values>, { labels, asksForTag }: Viewer): boolean {
  if (labels === undefined || asksForTag === true) return false
  if (labels.size < singles.size) {
    for (const [label, value] of labels) if (isAmong(singles.get(label), value)) return true
    return false
  }
  for (const [label, values] of singles) if (isAmong(values, labels.get(label))) return true
  return false
}

function valueOf({ ip, tag, asksForTag, labels }: Viewer, label: string): string | undefined {
  if (label === ADDRESS_LABEL) return ip
  if (label === TAG_LABEL) return tag
  return asksForTag === true ? undefined : labels?.get(label)
}

function isAmong(values: Values | undefined, value: string | undefined): boolean {
  if (values === undefined || value === undefined) return false
  return typeof values === 'string' ? values === value : values.has(value)
}
