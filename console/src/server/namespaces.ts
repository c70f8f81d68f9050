import type { Space } from './answers.ts'
import { request } from './request.ts'

/** The colours that people can give to a namespace; `none`: the page chooses one. */
export const NAMESPACE_COLOURS = [
  'none',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const

/** One of {@link NAMESPACE_COLOURS}. */
export type NamespaceColour = (typeof NAMESPACE_COLOURS)[number]

/** A namespace. The default one has an empty id. */
export interface Namespace {
  readonly id: string
  readonly name: string
  readonly desc: string
  /** False for one that is not on the list, and holds something. */
  readonly isListed: boolean
  readonly configCount: number
  readonly colour: NamespaceColour
  /** Whether the page asks for its name before it writes there. */
  readonly isProtected: boolean
}

const NAMESPACES = 'svc/v1/console/namespaces'

/** The namespaces that the user may see, also namespaces that are not on the list and hold something. */
export async function listNamespaces(): Promise<Namespace[]> {
  const { namespaces } = await request<{ namespaces: readonly Space[] }>('GET', `${NAMESPACES}/all`)
  return namespaces.map(
    ({ namespaceId, name, desc, listed, configCount, color, protected: isProtected }) => ({
      id: namespaceId === 'public' ? '' : namespaceId,
      name,
      desc,
      isListed: listed,
      configCount,
      colour: color,
      isProtected,
    }),
  )
}

/** Makes a namespace; an empty id gets a random one. False where the id is taken. */
export const createNamespace = (id: string, name: string, desc: string): Promise<boolean> =>
  request('POST', NAMESPACES, {
    form: { customNamespaceId: id, namespaceName: name, namespaceDesc: desc || undefined },
  })

/** Changes its name and description. */
export const renameNamespace = (id: string, name: string, desc: string): Promise<boolean> =>
  request('PUT', NAMESPACES, { form: { namespace: id, namespaceShowName: name, namespaceDesc: desc } })

/** Gives it a colour, and protects it or not. */
export const setLook = (
  id: string,
  { colour, isProtected }: Pick<Namespace, 'colour' | 'isProtected'>,
): Promise<boolean> =>
  request('PUT', `${NAMESPACES}/look`, {
    form: { namespaceId: id || 'public', color: colour, protected: isProtected },
  })

/** Takes it off the list; its contents stay. */
export const removeNamespace = (id: string): Promise<boolean> =>
  request('DELETE', NAMESPACES, { query: { namespaceId: id } })
