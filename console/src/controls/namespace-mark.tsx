import { namespaceColour, namespaceName } from '../state/namespaces.ts'

/** A namespace, with its colour. */
export function NamespaceMark({ id }: { id: string }) {
  return (
    <span class={`namespace ${namespaceColour(id)}`}>
      <span dir="auto">{namespaceName(id)}</span>
    </span>
  )
}
