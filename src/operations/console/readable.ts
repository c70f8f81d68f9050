import type { Resource } from '../guard.ts'

/** A table of things in namespaces. */
interface Namespaced<T> {
  namespaces(): Iterable<string>
  inNamespace(namespaceId: string): Iterable<T>
}

/**
 * The configurations of a namespace, or of all. Namespaces in which the caller may read none are left out before any is looked
 * at. A copy: they may change between two turns. `shows`: whether the caller may read a resource.
 */
export function configsToLookAt<T>(
  table: Namespaced<T>,
  namespaceId: string | undefined,
  shows: (resource: Resource) => boolean,
): T[] {
  return toLookAt(table, namespaceId, (id) => shows({ kind: 'some-configs', namespaceId: id }))
}

/** As {@link configsToLookAt}, of services. */
export function servicesToLookAt<T>(
  table: Namespaced<T>,
  namespaceId: string | undefined,
  shows: (resource: Resource) => boolean,
): T[] {
  return toLookAt(table, namespaceId, (id) => shows({ kind: 'some-services', namespaceId: id }))
}

function toLookAt<T>(
  table: Namespaced<T>,
  namespaceId: string | undefined,
  isReadable: (namespaceId: string) => boolean,
): T[] {
  const namespaces = namespaceId === undefined ? table.namespaces() : [namespaceId]
  return Array.from(namespaces)
    .filter(isReadable)
    .flatMap((id) => Array.from(table.inNamespace(id)))
}
