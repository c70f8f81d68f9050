import { Refusal } from '../refusal.ts'
import { shown } from '../shown.ts'
import type { Metadata } from './instance.ts'
import type { ServiceEntry } from './service-entry.ts'

/** A key of metadata and the value that it must have, in an instance of the service or in the service itself. */
export interface MetadataCondition {
  readonly scope: 'INSTANCE' | 'SERVICE'
  readonly key: string
  readonly value: string
}

// Sticky: it is tried at one place of the expression only.
const CONDITION =
  /(INSTANCE|SERVICE)\.metadata\.([^\s='&]{1,256})\s{0,16}=\s{0,16}(?:'([^']{0,1024})'|([^\s'&]{1,1024}))\s{0,16}(?:(&)\s{0,16}|$)/y
const LONGEST_EXPRESSION = 4_096
/** Each condition is compared with every instance of a namespace. */
const MOST_CONDITIONS = 8

/**
 * The conditions of an expression such as `INSTANCE.metadata.zone = 'a' & SERVICE.metadata.team = 'shop'`
 * (http-compat.md section 1, service list). A blank expression has none. Throws Refusal for any other text.
 */
export function conditionsOfExpression(expression: string): MetadataCondition[] {
  if (expression.length > LONGEST_EXPRESSION) throw badExpression(`is longer than ${LONGEST_EXPRESSION}`)
  const conditions: MetadataCondition[] = []
  const text = expression.trim()
  let isMore = text !== ''
  for (let at = 0; isMore;) {
    CONDITION.lastIndex = at
    const [whole, scope, key = '', quoted, plain = '', and] = CONDITION.exec(text) ?? []
    if (whole === undefined) throw badExpression(`holds ${shown(text.slice(at))}`)
    conditions.push({ scope: scope === 'SERVICE' ? 'SERVICE' : 'INSTANCE', key, value: quoted ?? plain })
    if (conditions.length > MOST_CONDITIONS)
      throw badExpression(`has more than ${MOST_CONDITIONS} conditions`)
    at += whole.length
    isMore = and !== undefined
  }
  return conditions
}

/** Whether a service meets all conditions. One of its instances must meet all those of instances. */
export function meetsConditions(entry: ServiceEntry, conditions: readonly MetadataCondition[]): boolean {
  const ofService = conditions.filter(({ scope }) => scope === 'SERVICE')
  if (!holds(entry.service.metadata, ofService)) return false
  const ofInstance = conditions.filter(({ scope }) => scope === 'INSTANCE')
  if (ofInstance.length === 0) return true
  for (const { metadata } of entry.instances.values()) if (holds(metadata, ofInstance)) return true
  return false
}

function holds(metadata: Metadata, conditions: readonly MetadataCondition[]): boolean {
  return conditions.every(({ key, value }) => Object.hasOwn(metadata, key) && metadata[key] === value)
}

function badExpression(what: string): Refusal {
  return new Refusal('invalid-parameter', `selector.expression ${what}`, {
    parameter: 'selector',
    allowed: "INSTANCE.metadata.NAME = 'VALUE' or SERVICE.metadata.NAME = 'VALUE', joined by &",
  })
}
