import type { Viewer } from './config-view.ts'
import { addressesOf, type LabelCondition, labelGroups } from './gray-rule.ts'

/** Whether a rule is for a client. */
export type Match = (who: Viewer) => boolean

/** The kinds of rules whose texts are worth reading once. */
type ReadOnce = 'beta' | 'tagv2'

/** How many letters of rules are kept read, of each kind: some ten bytes each. Beyond them the oldest are read again. */
const MOST_LETTERS = 2 * 1024 * 1024

/** The rules of a kind that were read, by their texts: equal rules are one. */
class ReadRules {
  readonly #read: (expr: string) => Match
  readonly #matches = new Map<string, Match>()
  #letters = 0

  constructor(read: (expr: string) => Match) {
    this.#read = read
  }

  of(expr: string): Match {
    const known = this.#matches.get(expr)
    if (known !== undefined) return known
    const match = this.#read(expr)
    this.#matches.set(expr, match)
    this.#letters += expr.length
    for (const oldest of this.#matches.keys()) {
      if (this.#letters <= MOST_LETTERS) break
      this.#matches.delete(oldest)
      this.#letters -= oldest.length
    }
    return match
  }
}

const RULES: Readonly<Record<ReadOnce, ReadRules>> = {
  beta: new ReadRules((expr) => {
    const addresses = new Set(addressesOf(expr))
    return ({ ip }) => addresses.has(ip)
  }),
  tagv2: new ReadRules(labelMatch),
}

/** The match of a rule by addresses or labels. */
export function matchOf(kind: ReadOnce, expr: string): Match {
  return RULES[kind].of(expr)
}

/** Labels whose values a client has from elsewhere than its labels. */
const ADDRESS_LABEL = 'ClientIp'
const TAG_LABEL = 'Vipserver-Tag'

/** Groups of one condition are one map of label to values, so a look costs no more than the labels of the client. */
function labelMatch(expr: string): Match {
  // Version 1.0.0 has neither && nor ||, so one reader reads both.
  const groups = labelGroups(expr, '1.1.0')
  const singles = valuesByLabel(groups.filter((group) => group.length === 1).flat())
  const joined = groups.filter((group) => group.length > 1).map((group) => [...valuesByLabel(group)])
  const addresses = singles.get(ADDRESS_LABEL)
  const tags = singles.get(TAG_LABEL)
  singles.delete(ADDRESS_LABEL)
  singles.delete(TAG_LABEL)
  return (who) =>
    addresses?.has(who.ip) === true ||
    (who.tag !== undefined && tags?.has(who.tag) === true) ||
    hasOne(singles, who) ||
    joined.some((group) => group.every(([label, values]) => isAmong(values, valueOf(who, label))))
}

type Values = ReadonlySet<string>

function valuesByLabel(conditions: readonly LabelCondition[]): Map<string, Values> {
  const byLabel = new Map<string, Set<string>>()
  for (const { label, values } of conditions) {
    const known = byLabel.get(label)
    if (known === undefined) byLabel.set(label, new Set(values))
    else for (const value of values) known.add(value)
  }
  return byLabel
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
  return value !== undefined && values?.has(value) === true
}
