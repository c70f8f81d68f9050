import type { Metadata } from './instance.ts'
import type { ServiceEntry } from './service-entry.ts'

/** A value that one of these keys of metadata must have, in an instance of the service or in the service itself. */
export interface MetadataCondition {
  readonly scope: 'INSTANCE' | 'SERVICE'
  readonly keys: readonly string[]
  readonly value: string
}

// Sticky: it is tried at one place of the expression only.
const CONDITION = /(INSTANCE|SERVICE)\.([^='&]{1,512})=(?:'([^']{0,1024})'|([^'&]{1,1024}))(?:(&)|$)/y
const LONGEST_EXPRESSION = 4_096
/** Each condition is compared with every instance of a namespace. */
const MOST_CONDITIONS = 8
const NO_CONDITIONS: readonly MetadataCondition[] = []

/**
 * The conditions of an expression such as `INSTANCE.metadata.zone = 'a' & SERVICE.metadata.team = 'shop'`
 * (http-compat.md section 1, service list). Whatever is between the first word and the key does not count, nor do blanks
 * outside of quotes. An expression that cannot be read has no conditions: it is ignored, as 2.x ignores every expression.
 */
export function conditionsOfExpression(expression: string): readonly MetadataCondition[] {
  if (expression.length > LONGEST_EXPRESSION) return NO_CONDITIONS
  const text = withoutBlanks(expression)
  const conditions: MetadataCondition[] = []
  for (let at = 0; ;) {
    CONDITION.lastIndex = at
    const [whole, scope, words = '', quoted, plain = '', and] = CONDITION.exec(text) ?? []
    const keys = keysOf(words)
    if (whole === undefined || keys.length === 0 || conditions.length === MOST_CONDITIONS)
      return NO_CONDITIONS
    conditions.push({ scope: scope === 'SERVICE' ? 'SERVICE' : 'INSTANCE', keys, value: quoted ?? plain })
    if (and === undefined) return conditions
    at += whole.length
  }
}

function withoutBlanks(expression: string): string {
  return expression.replace(/'[^']*'|\s+/g, (part) => (part.startsWith("'") ? part : ''))
}

/** The last word; and all but the first, because a key may have dots. */
function keysOf(words: string): string[] {
  const last = words.slice(words.lastIndexOf('.') + 1)
  const afterFirst = words.slice(words.indexOf('.') + 1)
  return [...new Set([afterFirst, last])].filter((key) => key !== '')
}

/** Whether a service meets all conditions. One instance must meet all conditions on instances. */
export function meetsConditions(entry: ServiceEntry, conditions: readonly MetadataCondition[]): boolean {
  const ofService = conditions.filter(({ scope }) => scope === 'SERVICE')
  if (!holds(entry.service.metadata, ofService)) return false
  const ofInstance = conditions.filter(({ scope }) => scope === 'INSTANCE')
  if (ofInstance.length === 0) return true
  for (const { metadata } of entry.instances.values()) if (holds(metadata, ofInstance)) return true
  return false
}

function holds(metadata: Metadata, conditions: readonly MetadataCondition[]): boolean {
  return conditions.every(({ keys, value }) =>
    keys.some((key) => Object.hasOwn(metadata, key) && metadata[key] === value),
  )
}
