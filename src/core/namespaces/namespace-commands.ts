import type { Change } from '../decisions/changes.ts'
import { type Command, commandOn, storing, synced, unchanged } from '../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../decisions/import-outcome.ts'
import { PUBLIC_NAMESPACE, type Namespace, NAMESPACE } from './namespace.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'

/** Puts a namespace on the list. Answers false where it is there already; `public` always is. */
export function createNamespace(namespace: Namespace): Command<boolean> {
  return storing(subjectOf(namespace.id), 0, (view, { stamp }) => {
    const taken = namespace.id === PUBLIC_NAMESPACE || view.record(NAMESPACE, namespace.id) !== undefined
    return taken ? unchanged(false) : synced([saved(namespace, stamp)], true)
  })
}

/** Puts a namespace of another server on the list. */
export function importNamespace(namespace: Namespace, overwrite: boolean): Command<ImportOutcome> {
  return storing(subjectOf(namespace.id), 0, (view, { stamp }) => {
    const known = view.record(NAMESPACE, namespace.id)
    if (known?.showName === namespace.showName && known.desc === namespace.desc)
      return unchanged(HERE_ALREADY)
    if (known !== undefined && !overwrite) return keeping('the namespace has other names here')
    return synced([saved(namespace, stamp)], TAKEN)
  })
}

/** The new name and description of a namespace; an undefined description stays as it is. */
export interface NewNames extends Omit<Namespace, 'desc'> {
  readonly desc: string | undefined
}

/** Changes the names of a listed namespace. Answers false where it is not listed; `public` is fixed. */
export function updateNamespace({ id, showName, desc }: NewNames): Command<boolean> {
  return storing(subjectOf(id), 0, (view, { stamp }) => {
    const known = view.record(NAMESPACE, id)
    if (known === undefined) return unchanged(false)
    return synced([saved({ id, showName, desc: desc ?? known.desc }, stamp)], true)
  })
}

/**
 * Takes a namespace off the list; its contents stay readable. Answers true, also when it was not listed,
 * and false for `public`, which cannot go.
 */
export function deleteNamespace(namespaceId: string): Command<boolean> {
  return commandOn(subjectOf(namespaceId), (view, { stamp }) => {
    if (namespaceId === PUBLIC_NAMESPACE) return unchanged(false)
    if (view.record(NAMESPACE, namespaceId) === undefined) return unchanged(true)
    return synced([recordRemoved(NAMESPACE, namespaceId, stamp)], true)
  })
}

function saved(namespace: Namespace, stamp: number): Change {
  return recordSaved(NAMESPACE, { id: namespace.id, value: namespace, stamp })
}

function subjectOf(namespaceId: string): string {
  return `namespace:${namespaceId}`
}
