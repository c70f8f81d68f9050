import type { Side } from './read-side.ts'

/** Whether a difference concerns an installation. `perhaps`: HTTP does not show it. */
export type Concern = 'no' | 'perhaps' | { readonly because: string }

/** A difference between this server and others, as docs/compatibility.md has it. */
export interface KnownDifference {
  /** The first words of its point or its row in the document. */
  readonly text: string
  readonly concerns: (sides: BothSides) => Concern
}

/** The data read from both servers. */
export interface BothSides {
  readonly old: Side
  readonly new: Side
}

/** The differences under “Not yet” and “Differences from Nacos”. A test compares the list with the document. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  { text: 'Other paths of `/nacos/v2` and `/nacos/v3`', concerns: fromGeneration2 },
  { text: 'Lock, MCP and AI requests over gRPC', concerns: onlyGeneration3 },
  {
    text: 'Deleting an item ends its gray versions',
    concerns: ({ old }) => because(countOf(old, 'gray'), 'gray versions are there'),
  },
  {
    text: 'Users, roles and permissions are managed by administrators who sign in, also while authentication is off.',
    concerns: ({ old }) => because(countOf(old, 'user'), 'users are there'),
  },
  { text: 'Errors have the status of their kind.', concerns: () => 'perhaps' },
  {
    text: '`public`, the empty namespace and none are one namespace, on every operation.',
    concerns: ({ old }) => (isOtherKind(old) ? 'perhaps' : 'no'),
  },
  {
    text: 'A service may hold ephemeral and persistent instances at once.',
    concerns: ({ old, new: other }) =>
      because(old.mixed.size + other.mixed.size, 'services have instances of both kinds'),
  },
  {
    text: 'With threshold 0 the protection never triggers; unhealthy instances are shown as unhealthy.',
    concerns: ({ old }) => because(withoutThreshold(old), 'services have the threshold 0'),
  },
  { text: 'The type of an item is understood by any usual name', concerns: () => 'perhaps' },
  { text: 'Publishing the stored content again adds no history record.', concerns: () => 'perhaps' },
  { text: 'Deleting a service that has instances is refused (400).', concerns: () => 'perhaps' },
  {
    text: "Pushes go to the address of the client's socket, independent of `clientIP`.",
    concerns: ({ old }) => (countOf(old, 'instance') + old.services.size > 0 ? 'perhaps' : 'no'),
  },
  {
    text: '`clusterName=None` counts as absent under `ns`: the Python client sends it if its user names no cluster.',
    concerns: ({ old }) => {
      const named = [...(old.things.get('instance')?.keys() ?? [])].filter((name) => name.endsWith('#None'))
      return because(named.length, 'instances are in a cluster of the name None')
    },
  },
  {
    text: 'A read of an item is `text/plain`',
    concerns: ({ old }) => (isBefore25(old) ? because(markedUp(old), 'items are of such a type') : 'no'),
  },
  {
    text: '`GET /nacos/v3/client/ns/instance/list` without a `clusterName` has the instances of all clusters.',
    concerns: ({ old }) =>
      old.first.kind === 'java-3' ? because(inOtherClusters(old), 'services have other clusters') : 'no',
  },
  {
    text: 'Answers are never compressed: some clients request gzip and cannot read it.',
    concerns: () => 'perhaps',
  },
  {
    text: 'An unknown path is 404, and an unsupported method of a path is 405, also under `ns` (it was 501).',
    concerns: ({ old }) => (old.first.kind === 'java-1' ? 'perhaps' : 'no'),
  },
]

function because(count: number, what: string): Concern {
  return count === 0 ? 'no' : { because: `${count} ${what}` }
}

function countOf({ things }: Side, kind: 'gray' | 'user' | 'instance'): number {
  return things.get(kind)?.size ?? 0
}

/** A service without a line of its own has no settings. */
function withoutThreshold({ things, services }: Side): number {
  const own = things.get('service')
  return [...services.keys()].filter((name) => (own?.get(name)?.['protectThreshold'] ?? '0') === '0').length
}

/** Whether the server answers reads with the media type of the item. */
function isBefore25({ first }: Side): boolean {
  const [, minor] = (first.version ?? '').split('.')
  return first.kind === 'java-1' || (first.kind === 'java-2' && Number(minor) < 5)
}

function markedUp({ things }: Side): number {
  const items = [...(things.get('config')?.values() ?? [])]
  return items.filter(({ type }) => ['json', 'xml', 'html'].includes(type ?? '')).length
}

function inOtherClusters({ clusters }: Side): number {
  return [...clusters.values()].filter((names) => [...names].some((name) => name !== 'DEFAULT')).length
}

function isOtherKind({ first }: Side): boolean {
  return first.kind !== 'waypost'
}

function fromGeneration2({ old }: BothSides): Concern {
  return old.first.kind === 'java-2' || old.first.kind === 'java-3' ? 'perhaps' : 'no'
}

function onlyGeneration3({ old }: BothSides): Concern {
  return old.first.kind === 'java-3' ? 'perhaps' : 'no'
}
