import { createHash } from 'node:crypto'
import { nameOf, type PlanCluster, type PlanConfig, type PlanThing } from '../../plan/plan.ts'
import { ENCRYPTED } from '../checks/content-lines.ts'
import type { OldKind } from '../old/old-server.ts'

/** The compared fields of a thing, as texts by their names. A field that the server does not give is absent. */
export type ComparedFields = Readonly<Record<string, string>>

/** A thing of one server, as it is compared. */
export interface ComparedThing {
  readonly kind: PlanThing['kind']
  /** The name under which both servers must have it. */
  readonly name: string
  readonly fields: ComparedFields
}

/** The fields that a kind of server does not give over HTTP, by the kind of thing. */
const NOT_GIVEN: { readonly [server in OldKind['kind']]?: Readonly<Record<string, readonly string[]>> } = {
  'java-3': { config: ['use', 'effect', 'schema'] },
  'r-nacos': {
    namespace: ['desc'],
    config: ['desc', 'use', 'effect', 'schema', 'tags', 'appName', 'encryptedDataKey'],
    service: ['selector', 'clusters', 'ephemeral'],
  },
}

/** The compared form of a thing. Undefined: it is not compared, because each server numbers or times it for itself. */
export function comparedThing(thing: PlanThing, server: OldKind['kind']): ComparedThing | undefined {
  const named = thing.kind === 'permission' ? { ...thing, resource: resourceOf(thing.resource) } : thing
  const fields = fieldsOf(thing)
  if (fields === undefined) return undefined
  const notGiven = NOT_GIVEN[server]?.[thing.kind] ?? []
  const given = Object.entries(fields).filter(
    (entry): entry is [string, string] => entry[1] !== null && !notGiven.includes(entry[0]),
  )
  return { kind: thing.kind, name: nameOf(named), fields: Object.fromEntries(given) }
}

/** Null: the server does not show it. */
function fieldsOf(thing: PlanThing): Record<string, string | null> | undefined {
  switch (thing.kind) {
    case 'namespace':
      return { name: thing.name, desc: thing.desc }
    case 'switch':
      return { value: thing.value }
    case 'user':
    case 'role':
    case 'permission':
      return {}
    case 'config':
      return {
        ...contentOf(thing),
        type: thing.type || 'text',
        desc: thing.desc ?? '',
        use: thing.use ?? '',
        effect: thing.effect ?? '',
        schema: thing.schema ?? '',
        tags: sorted(thing.tags ?? ''),
        appName: thing.appName,
      }
    case 'gray':
      return {
        content: md5Of(thing.content),
        rule: thing.rule,
        expression: sorted(thing.expression),
      }
    case 'service':
      return {
        protectThreshold: `${thing.protectThreshold}`,
        selector: inOrder(thing.selector),
        metadata: inOrder(thing.metadata),
        clusters: inOrder(Object.fromEntries(thing.clusters.map((one) => [one.name, clusterOf(one)]))),
        ephemeral: thing.ephemeral === null ? null : `${thing.ephemeral}`,
      }
    case 'instance':
      return {
        ephemeral: `${thing.ephemeral}`,
        weight: `${thing.weight}`,
        enabled: `${thing.enabled}`,
        healthy: `${thing.healthy}`,
        metadata: inOrder(thing.metadata),
      }
    case 'history':
      return undefined
  }
}

/** A server may show only the decrypted text of an encrypted item, which says nothing about the stored text. */
function contentOf({ dataId, content, md5, encryptedDataKey }: PlanConfig): Record<string, string | null> {
  const isDecrypted = dataId.startsWith(ENCRYPTED) && md5 === null && encryptedDataKey === ''
  return isDecrypted ? {} : { content: md5Of(content), md5, encryptedDataKey }
}

/** Servers that keep secrets do not show the password and the values of header fields of a checker. */
function clusterOf({ checker, checkPort, useInstancePort, metadata }: PlanCluster): object {
  const { headers, pwd: _pwd, publicKey: _key, ca: _ca, ...shown } = checker
  const names = typeof headers === 'string' ? headers.split('|').map((one) => one.split(':')[0]!) : []
  const isNamed = names.some((name) => name !== '')
  return {
    checker: isNamed ? { ...shown, headers: names.toSorted() } : shown,
    checkPort,
    useInstancePort,
    metadata,
  }
}

/** The default namespace is empty before 3.x, and `public` from then on. */
function resourceOf(resource: string): string {
  return resource.startsWith(':') ? `public${resource}` : resource
}

function sorted(list: string): string {
  const words = list.split(',').map((word) => word.trim())
  return words
    .filter((word) => word !== '')
    .toSorted()
    .join(',')
}

/** JSON with sorted keys, at every depth. */
function inOrder(value: object): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
