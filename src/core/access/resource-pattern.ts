import { PUBLIC_NAMESPACE } from '../namespaces/namespace.ts'
import { Refusal } from '../refusal.ts'
import { shown } from '../text/shown.ts'
import { TextPattern } from '../text/text-pattern.ts'

/** The resource of a permission, parsed (http-compat.md section 7). */
export type ResourcePattern = ItemPattern | { readonly kind: 'metrics' }

/** The configurations or services that a permission is about. */
export interface ItemPattern {
  /** `any`: configurations and services. */
  readonly kind: 'config' | 'naming' | 'any'
  readonly namespace: TextPattern
  readonly group: TextPattern
  /** The dataId, or the service without its group. */
  readonly name: TextPattern
}

/** The permission for monitoring. */
const METRICS = 'operator/metrics'
/** The names of the longest item, and wildcards between them. */
const MAX_LENGTH = 1024
const ALLOWED =
  '<namespace>:<group>:config/<dataId>, <namespace>:<group>:naming/<service>, <namespace>:<group>:* or operator/metrics, ' +
  `of at most ${MAX_LENGTH} characters, with * for any characters`

const NAMESPACE = /^[\w*-]*$/
const GROUP_OR_DATA_ID = /^[^\s\p{Cc}\p{Cf}/]+$/u
const SERVICE = /^(?!.*@@)[^\s\p{Cc}\p{Cf}]+$/u

/** The resource of a permission. Throws Refusal `invalid-parameter`. */
export function readResourcePattern(resource: string): ResourcePattern {
  const pattern = resourcePatternOf(resource)
  if (pattern !== undefined) return pattern
  const facts = { parameter: 'resource', allowed: ALLOWED }
  throw new Refusal('invalid-parameter', `resource must be ${ALLOWED}, but is ${shown(resource)}.`, facts)
}

/**
 * The resource of a permission; undefined where it cannot be read. It is split at its first `:`, and then at the first
 * `:config/` or `:naming/`. No namespace contains `:` and no group `/`, so a group can end at no other place.
 */
export function resourcePatternOf(resource: string): ResourcePattern | undefined {
  if (resource === METRICS) return { kind: 'metrics' }
  const colon = resource.indexOf(':')
  if (colon < 0 || resource.length > MAX_LENGTH) return undefined
  const namespace = resource.slice(0, colon)
  const rest = split(resource.slice(colon + 1))
  if (rest === undefined || !NAMESPACE.test(namespace) || !GROUP_OR_DATA_ID.test(rest.group)) return undefined
  if (!(rest.kind === 'naming' ? SERVICE : GROUP_OR_DATA_ID).test(rest.name)) return undefined
  return {
    kind: rest.kind,
    namespace: new TextPattern(namespace === '' ? PUBLIC_NAMESPACE : namespace),
    group: new TextPattern(rest.group),
    name: new TextPattern(rest.name),
  }
}

/** One spelling for all patterns that mean the same. Throws Refusal `invalid-parameter`. */
export function canonicalResource(resource: string): string {
  const pattern = readResourcePattern(resource)
  if (pattern.kind === 'metrics') return METRICS
  const { kind, namespace, group, name } = pattern
  const kindText = kind === 'any' ? '' : `${kind}/`
  return `${namespace.source}:${group.source}:${kindText}${name.source}`
}

interface Rest {
  readonly kind: ItemPattern['kind']
  readonly group: string
  readonly name: string
}

/** Splits the text after the namespace. */
function split(rest: string): Rest | undefined {
  const at = rest.search(/:(?:config|naming)\//)
  if (at < 0) return rest.endsWith(':*') ? { kind: 'any', group: rest.slice(0, -2), name: '*' } : undefined
  const slash = rest.indexOf('/', at)
  const kind = rest.slice(at + 1, slash) === 'config' ? 'config' : 'naming'
  return { kind, group: rest.slice(0, at), name: rest.slice(slash + 1) }
}
