import type { Refusal, RefusalFacts } from '../../../core/refusal.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'
import { REFUSALS } from '../../refusals/refusals.ts'

/** The part of `/nacos` that a message is for: some texts differ between them. */
export type NacosPart = 'config' | 'naming'

/**
 * The text of a refusal that clients and operators of the Java server know (http-compat.md sections 0, 1 and
 * 4). Without one, the refusal's own sentence.
 */
export function nacosMessage(refusal: Refusal, part: NacosPart): string {
  const { code, message, facts } = refusal
  if (code === 'invalid-parameter')
    return (part === 'config' ? invalidConfig(facts) : invalidNaming(facts)) ?? message
  return filled(REFUSALS[code].nacos, facts.names) ?? message
}

/** The text with its placeholders filled in; undefined if a name is not known. */
function filled(text: string | undefined, names: RefusalFacts['names'] = {}): string | undefined {
  let isComplete = true
  const whole = text?.replace(/\{(\w+)\}/g, (_all, name: string) => {
    isComplete &&= names[name] !== undefined
    return names[name] ?? ''
  })
  return isComplete ? whole : undefined
}

function invalidConfig({ parameter, names }: RefusalFacts): string | undefined {
  const value = names?.['value']
  switch (parameter) {
    case 'dataId':
    case 'group':
    case 'tag':
      return value === undefined ? undefined : `invalid ${parameter} : ${printable(value)}`
    case 'tenant':
      return 'invalid tenant'
    case 'content':
      return names?.['size'] === undefined ? 'content is blank : ' : 'invalid content, over 10485760'
    case 'pageNo':
    case 'pageSize':
      return 'pageNo and pageSize must be greater than zero'
    default:
      return undefined
  }
}

function invalidNaming(facts: RefusalFacts): string | undefined {
  const { parameter, names } = facts
  if (parameter === 'clusterName' || parameter === 'beat.cluster') return `${javaParamCheck(facts)}\r\n`
  if (names?.['value'] === undefined) return undefined
  const value = printable(names['value'])
  switch (parameter) {
    case 'weight':
      return `instance format invalid: The weights range from 0.0 to 10000.0, current: ${value}`
    case 'metadata':
      return `metadata format incorrect:${value}`
    default:
      return undefined
  }
}

/** A client's value on one line of text. */
function printable(value: string): string {
  return value.slice(0, 64).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
}
