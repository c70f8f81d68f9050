import fc from 'fast-check'
import { configKey } from '../state/config-item.ts'
import type { Viewer } from '../state/viewer.ts'
import { BETA_PRIORITY, type GrayRule, TAG_PRIORITY } from '../state/gray-rule.ts'

/** A gray version as a test remembers it: the input alone, without computed fields. */
export interface NaiveGray {
  readonly name: string
  readonly rule: GrayRule
  readonly text: string
}

/** An item as a test remembers it. */
export interface NaiveItem {
  formal: string | undefined
  readonly gray: Map<string, NaiveGray>
}

/** The item that all changes are of. */
export const KEY = configKey('public', 'G', 'a')

const IPS = ['10.0.0.1', '10.0.0.2', '10.0.0.3', ' 10.0.0.4']
const TAGS = ['x', 'y']
const LABELS = ['env', 'zone']

/** The text that a client sees: a second, simple and slow implementation. The shares are 0 and 100 only. */
export function naiveView({ formal, gray }: NaiveItem, who: Viewer): string | undefined {
  const isFor = ({ rule: { type, expr, version } }: NaiveGray): boolean => {
    if (type === 'beta')
      return expr
        .split(',')
        .map((ip) => ip.trim())
        .includes(who.ip)
    if (type === 'tag') return who.tag === expr
    if (who.asksForTag === true) return false
    if (type === 'percent') return expr === '100'
    const groups = version === '1.1.0' ? expr.split('||') : [expr]
    return groups.some((group) =>
      (version === '1.1.0' ? group.split('&&') : [group]).every((condition) => {
        const [label, values] = condition.split('=')
        return values!.split(',').includes(who.labels?.get(label!) ?? 'none')
      }),
    )
  }
  let best: NaiveGray | undefined
  for (const one of gray.values()) {
    if (!isFor(one)) continue
    const isBetter =
      best === undefined ||
      one.rule.priority > best.rule.priority ||
      (one.rule.priority === best.rule.priority && one.name < best.name)
    if (isBetter) best = one
  }
  if (best !== undefined) return best.text
  return who.asksForTag === true ? undefined : formal
}

/** A client. */
export const viewers: fc.Arbitrary<Viewer> = fc.record({
  ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'),
  tag: fc.option(fc.constantFrom(...TAGS), { nil: undefined }),
  labels: fc.option(
    fc
      .dictionary(fc.constantFrom(...LABELS), fc.constantFrom('1', '2'))
      .map((labels) => new Map(Object.entries(labels))),
    { nil: undefined },
  ),
})

/** The same, or a client that asks for a tag. */
export const askers: fc.Arbitrary<Viewer> = fc.oneof(
  viewers,
  viewers.map((who) => ({ ...who, tag: who.tag ?? 'x', asksForTag: true })),
)

const texts = fc.constantFrom('one', 'two', 'three')
const condition = fc
  .tuple(fc.constantFrom(...LABELS), fc.constantFrom('1', '2', '1,2'))
  .map(([label, values]) => `${label}=${values}`)
const priority = fc.integer({ min: 0, max: 3 })
const name = fc.constantFrom('a', 'b', 'C')
const expressions = fc.uniqueArray(fc.constantFrom('env=1', 'zone=2', 'zone=1'), {
  minLength: 1,
  maxLength: 2,
})

const grays: fc.Arbitrary<NaiveGray> = fc.oneof(
  fc.tuple(fc.subarray(IPS, { minLength: 1 }), texts).map(([ips, text]): NaiveGray => {
    const rule: GrayRule = { type: 'beta', version: '1.0.0', expr: ips.join(','), priority: BETA_PRIORITY }
    return { name: 'beta', rule, text }
  }),
  fc.tuple(fc.constantFrom(...TAGS), texts).map(([tag, text]): NaiveGray => {
    const rule: GrayRule = { type: 'tag', version: '1.0.0', expr: tag, priority: TAG_PRIORITY }
    return { name: `tag_${tag}`, rule, text }
  }),
  fc.tuple(name, condition, priority, texts).map(([own, expr, of, text]): NaiveGray => {
    return { name: own, rule: { type: 'tagv2', version: '1.0.0', expr, priority: of }, text }
  }),
  fc.tuple(name, expressions, expressions, priority, texts).map(([own, one, other, of, text]): NaiveGray => {
    const isGood = (group: readonly string[]): boolean =>
      new Set(group.map((text_) => text_.split('=')[0])).size === group.length
    const expr =
      [one, other]
        .filter(isGood)
        .map((group) => group.join('&&'))
        .join('||') || 'env=2'
    return { name: own, rule: { type: 'tagv2', version: '1.1.0', expr, priority: of }, text }
  }),
  fc.tuple(name, fc.constantFrom('0', '100'), priority, texts).map(([own, expr, of, text]): NaiveGray => {
    return { name: own, rule: { type: 'percent', version: '1.0.0', expr, priority: of }, text }
  }),
)

/** A change of the item that somebody asks for. */
export type NaiveChange =
  | { readonly do: 'publish'; readonly text: string }
  | { readonly do: 'publish-gray'; readonly gray: NaiveGray }
  | { readonly do: 'grow' | 'promote' | 'stop'; readonly name: string }
  | { readonly do: 'delete' }

const names = fc.constantFrom('beta', 'tag_x', 'tag_y', 'a', 'b', 'C')

/** Changes of the item, in their order. */
export const changes: fc.Arbitrary<readonly NaiveChange[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: texts.map((text): NaiveChange => ({ do: 'publish', text })) },
    { weight: 6, arbitrary: grays.map((gray): NaiveChange => ({ do: 'publish-gray', gray })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom('grow' as const, 'promote' as const, 'stop' as const), names)
        .map(([does, of]): NaiveChange => ({ do: does, name: of })),
    },
    { weight: 1, arbitrary: fc.constant<NaiveChange>({ do: 'delete' }) },
  ),
  { maxLength: 20 },
)

/** The rule that a test gives a version when it grows. */
export function grownExpr({ rule }: NaiveGray): string {
  if (rule.type === 'beta') return `${rule.expr},10.0.0.4`
  if (rule.type === 'percent') return '100'
  return rule.type === 'tag' ? rule.expr : 'env=1'
}

/** Makes a change in an item that a test remembers. A missing version cannot be grown or promoted. */
export function changeNaively(item: NaiveItem, change: NaiveChange): void {
  switch (change.do) {
    case 'publish':
      item.formal = change.text
      return
    case 'publish-gray':
      item.gray.set(change.gray.name, change.gray)
      return
    case 'delete':
      item.formal = undefined
      item.gray.clear()
      return
    case 'stop':
      item.gray.delete(change.name)
      return
    case 'grow': {
      const gray = item.gray.get(change.name)
      if (gray !== undefined)
        item.gray.set(gray.name, { ...gray, rule: { ...gray.rule, expr: grownExpr(gray) } })
      return
    }
    case 'promote': {
      const gray = item.gray.get(change.name)
      if (gray === undefined) return
      item.formal = gray.text
      item.gray.clear()
    }
  }
}
