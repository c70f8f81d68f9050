import { type Command, synced, unchanged } from '../decision.ts'
import { PUBLIC_NAMESPACE } from '../namespace-id.ts'
import type { Namespace } from './namespace.ts'

/** Puts a namespace on the list. Answers false where it is there already; `public` always is. */
export function createNamespace(namespace: Namespace): Command<boolean> {
  return {
    subject: subjectOf(namespace.id),
    decide(view) {
      const taken = namespace.id === PUBLIC_NAMESPACE || view.namespace(namespace.id) !== undefined
      return taken ? unchanged(false) : synced([{ kind: 'namespace-saved', namespace }], true)
    },
  }
}

/** Changes the names of a listed namespace. Answers false where it is not listed; `public` is fixed. */
export function updateNamespace(namespace: Namespace): Command<boolean> {
  return {
    subject: subjectOf(namespace.id),
    decide(view) {
      if (view.namespace(namespace.id) === undefined) return unchanged(false)
      return synced([{ kind: 'namespace-saved', namespace }], true)
    },
  }
}

/**
 * Takes a namespace off the list; what is in it stays readable. Answers true, also when it was not listed,
 * and false for `public`, which cannot go.
 */
export function deleteNamespace(namespaceId: string): Command<boolean> {
  return {
    subject: subjectOf(namespaceId),
    decide(view) {
      if (namespaceId === PUBLIC_NAMESPACE) return unchanged(false)
      if (view.namespace(namespaceId) === undefined) return unchanged(true)
      return synced([{ kind: 'namespace-deleted', namespaceId }], true)
    },
  }
}

function subjectOf(namespaceId: string): string {
  return `namespace:${namespaceId}`
}
