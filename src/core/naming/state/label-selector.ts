import { Refusal } from '../../refusal.ts'
import { shown } from '../../text/shown.ts'
import type { Metadata } from './instance.ts'
import type { Instance } from './service-entry.ts'
import type { Selector } from './service.ts'

/** The labels of an address: for each name, every value that an instance there carries in its metadata. */
export type LabelsOf = (ip: string) => readonly Metadata[]

/** Whatever word is in the place of `label` does not count. */
const CONDITION = /^CONSUMER\.[\w-]{1,128}\.([\w.-]{1,128}) *= *PROVIDER\.[\w-]{1,128}\.([\w.-]{1,128})$/
const LONGEST_EXPRESSION = 4_096

/**
 * The label names that a consumer and a provider must share, from an expression such as `CONSUMER.label.zone =
 * PROVIDER.label.zone & CONSUMER.label.rack = PROVIDER.label.rack`. Throws Refusal for other texts.
 */
export function labelsOfExpression(expression: string): string[] {
  if (expression.length > LONGEST_EXPRESSION) throw badExpression(`is longer than ${LONGEST_EXPRESSION}`)
  return expression.split('&').map((condition) => {
    const match = CONDITION.exec(condition.trim())
    if (match === null) throw badExpression(`holds ${shown(condition.trim())}`)
    if (match[1] !== match[2]) throw badExpression(`compares ${match[1]} with ${match[2]}`)
    return match[1] ?? ''
  })
}

/**
 * The instances that a consumer at `ip` may see. Where the consumer has no such labels, or no instance
 * shares them, it sees all (http-compat.md section 4, Selectors).
 */
export function selectByLabel(
  selector: Selector,
  instances: readonly Instance[],
  consumer: { ip: string; labelsOf: LabelsOf },
): readonly Instance[] {
  if (selector.type === 'none') return instances
  const wanted = labelsOfExpression(selector.expression).map((name) => ({
    name,
    values: valuesOf(name, consumer.labelsOf(consumer.ip)),
  }))
  if (wanted.some(({ values }) => values.size === 0)) return instances
  // Asked once for each address: an address may have thousands of instances, and each answer has labels of all.
  const labelsOf = rememberedLabels(consumer.labelsOf)
  const matching = instances.filter((instance) =>
    wanted.every(({ name, values }) => carries(instance, name, { values, labelsOf })),
  )
  return matching.length === 0 ? instances : matching
}

/** An instance's own metadata has the label, or else the metadata of instances at the same address. */
function carries(
  instance: Instance,
  name: string,
  wanted: { values: ReadonlySet<string>; labelsOf: (ip: string, name: string) => ReadonlySet<string> },
): boolean {
  const own = labelOf(instance.metadata, name)
  if (own !== undefined) return wanted.values.has(own)
  const others = wanted.labelsOf(instance.record.address.ip, name)
  for (const value of others) if (wanted.values.has(value)) return true
  return false
}

function rememberedLabels(labelsOf: LabelsOf): (ip: string, name: string) => ReadonlySet<string> {
  const known = new Map<string, Set<string>>()
  return (ip, name) => {
    const place = `${ip} ${name}`
    const there = known.get(place)
    if (there !== undefined) return there
    const values = valuesOf(name, labelsOf(ip))
    known.set(place, values)
    return values
  }
}

function valuesOf(name: string, labels: readonly Metadata[]): Set<string> {
  return new Set(labels.flatMap((metadata) => labelOf(metadata, name) ?? []))
}

/** A label may be called like something that every object has. */
function labelOf(metadata: Metadata, name: string): string | undefined {
  return Object.hasOwn(metadata, name) ? metadata[name] : undefined
}

function badExpression(what: string): Refusal {
  return new Refusal('invalid-parameter', `selector.expression ${what}`, {
    parameter: 'selector',
    allowed: 'CONSUMER.label.NAME = PROVIDER.label.NAME, joined by &',
  })
}
