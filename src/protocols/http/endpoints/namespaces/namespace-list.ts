import { PUBLIC_NAMESPACE, toNamespaceId, toTenant } from '../../../../core/namespace-id.ts'
import type { Namespace } from '../../../../core/namespaces/namespace.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { State } from '../../../../core/state.ts'

/** What the list of namespaces is made from. */
export interface NamespaceListParts {
  readonly state: Pick<State, 'namespaces' | 'namespace' | 'configs'>
  /** The quota that is shown; nothing enforces it. */
  readonly namespaceQuota: number
}

const PUBLIC: Namespace = { id: PUBLIC_NAMESPACE, showName: 'public', desc: 'Default Namespace' }
const DEFAULT_TYPE = 0
const CUSTOM_TYPE = 2

/** Every namespace on the list: the default one, then the others in the order in which they were made. */
export function listNamespaces(parts: NamespaceListParts): object[] {
  return [PUBLIC, ...parts.state.namespaces.values()].map((namespace) => entryOf(parts, namespace))
}

/** One entry of the list; Refusal `namespace-not-found` for what is not on it. */
export function findNamespace(parts: NamespaceListParts, id: string | undefined): object {
  const namespaceId = toNamespaceId(id)
  const namespace = namespaceId === PUBLIC_NAMESPACE ? PUBLIC : parts.state.namespace(namespaceId)
  if (namespace === undefined) {
    throw new Refusal('namespace-not-found', `namespaceId [ ${namespaceId} ] not exist`)
  }
  return entryOf(parts, namespace)
}

/** Whether nobody else can make a namespace of this id. */
export function isTaken({ state }: NamespaceListParts, id: string): boolean {
  return id === PUBLIC_NAMESPACE || state.namespace(id) !== undefined
}

function entryOf({ state, namespaceQuota }: NamespaceListParts, namespace: Namespace): object {
  return {
    namespace: toTenant(namespace.id),
    namespaceShowName: namespace.showName,
    namespaceDesc: namespace.desc,
    quota: namespaceQuota,
    configCount: state.configs.countIn(namespace.id),
    type: namespace.id === PUBLIC_NAMESPACE ? DEFAULT_TYPE : CUSTOM_TYPE,
  }
}
