/** An action that needs a right. Without `group` and `name`: with anything of that kind in the namespace. */
export interface Wanted {
  readonly action: 'r' | 'w'
  /** Absent: either. */
  readonly kind?: 'config' | 'naming'
  readonly namespaceId: string
  readonly group?: string
  /** The data ID, or the service without its group. */
  readonly name?: string
}

/** A permission of the user. */
export interface Given {
  readonly resource: string
  readonly action: 'r' | 'w' | 'rw'
}

/** Whether one of the permissions allows it: which buttons are shown. The server decides (docs/recipes/manage-users.md). */
export const allows = (given: readonly Given[], wanted: Wanted): boolean =>
  given.some(({ resource, action }) => action.includes(wanted.action) && covers(resource, wanted))

function covers(resource: string, { kind, namespaceId, group, name }: Wanted): boolean {
  const own = partsOf(resource)
  if (own === undefined || !matches(publicOr(own.namespace), publicOr(namespaceId))) return false
  if (kind !== undefined && own.kind !== undefined && own.kind !== kind) return false
  if (group !== undefined && !matches(own.group, group)) return false
  return name === undefined || matches(own.name, name)
}

/** The parts of a resource: it is split at its first `:`, then where the kind is named first; undefined for one of no item. */
function partsOf(resource: string) {
  const [, namespace = '', rest = ''] = /^([^:]*):(.*)$/s.exec(resource) ?? []
  const [, group = '', kind, name = ''] = /^(.*?):(config|naming)\/(.*)$/s.exec(rest) ?? []
  if (kind !== undefined) return { namespace, group, kind, name }
  return rest.endsWith(':*') ? { namespace, group: rest.slice(0, -2), kind: undefined, name: '*' } : undefined
}

const publicOr = (namespaceId: string): string => (namespaceId === '' ? 'public' : namespaceId)

/** Whether a text is what a pattern says; `*` is any characters. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === text
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  let rest = text.slice(first.length, text.length - last.length)
  return others.every((piece) => {
    const at = rest.indexOf(piece)
    rest = rest.slice(at + piece.length)
    return at >= 0
  })
}
