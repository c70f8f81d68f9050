/** The id of the namespace that everything belongs to when no other is named. */
export const PUBLIC_NAMESPACE = 'public'

/**
 * The one id of a namespace in core. An absent id, an empty one and `public` are the same namespace, on every
 * operation. The Java servers treated them differently per endpoint, and data was lost to it.
 */
export function toNamespaceId(id: string | undefined): string {
  return id === undefined || id === '' ? PUBLIC_NAMESPACE : id
}

/** How configuration answers and the namespace list spell a namespace: the default one is the empty string. */
export function toTenant(namespaceId: string): string {
  return namespaceId === PUBLIC_NAMESPACE ? '' : namespaceId
}
