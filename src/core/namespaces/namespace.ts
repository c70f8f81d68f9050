import { fieldsOf, textIn } from '../records/shape.ts'
import { defineRecordKind, recordRemoved, recordSaved } from '../records/record-kind.ts'
import { type Command, commandOn, synced, unchanged } from '../decisions/decision.ts'

/** A listed namespace. Unlisted ones work as well: the list is for people. */
export interface Namespace {
  readonly id: string
  readonly showName: string
  readonly desc: string
}

/** The namespaces of the list, by id, without `public`. */
export const NAMESPACE = defineRecordKind<Namespace>('namespace', (json, id) => {
  const fields = fieldsOf(json)
  return { id, showName: textIn(fields, 'showName'), desc: textIn(fields, 'desc') }
})

/** How people tell a namespace from others. It changes nothing for clients. */
export interface NamespaceLook {
  /** One of {@link NAMESPACE_COLORS}, or empty. */
  readonly color: string
  /** Whether the console asks for the name of the namespace before it writes there. */
  readonly isProtected: boolean
}

/** The colours that a namespace can have: words, because each theme shows them in its own way. */
export const NAMESPACE_COLORS = [
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const

/** The look of a namespace without any. */
export const PLAIN_LOOK: NamespaceLook = { color: '', isProtected: false }

/** The looks of namespaces, listed or not, `public` too, by namespace id. */
export const NAMESPACE_LOOK = defineRecordKind<NamespaceLook>('namespace-look', (json) => {
  const fields = fieldsOf(json)
  return { color: textIn(fields, 'color'), isProtected: fields['isProtected'] === true }
})

/** Another look of a namespace; undefined fields stay as they are. */
export interface NewLook {
  readonly color: string | undefined
  readonly isProtected: boolean | undefined
}

/** Changes the look of a namespace. Answers true. */
export function setNamespaceLook(namespaceId: string, { color, isProtected }: NewLook): Command<true> {
  return commandOn(`namespace-look:${namespaceId}`, (view, { stamp }) => {
    const before = view.record(NAMESPACE_LOOK, namespaceId) ?? PLAIN_LOOK
    const look = { color: color ?? before.color, isProtected: isProtected ?? before.isProtected }
    if (before.color === look.color && before.isProtected === look.isProtected) return unchanged(true)
    const isPlain = look.color === '' && !look.isProtected
    const change = isPlain
      ? recordRemoved(NAMESPACE_LOOK, namespaceId, stamp)
      : recordSaved(NAMESPACE_LOOK, { id: namespaceId, value: look, stamp })
    return synced([change], true)
  })
}

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
