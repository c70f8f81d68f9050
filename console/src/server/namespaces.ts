import { request } from './request.ts'

/** A namespace as the list has it. The default one has an empty id. */
export interface Namespace {
  readonly id: string
  readonly name: string
  readonly desc: string
  readonly configCount: number
  readonly quota: number
  readonly isDefault: boolean
}

interface Listed {
  readonly namespace: string
  readonly namespaceShowName: string
  readonly namespaceDesc?: string | null
  readonly configCount: number
  readonly quota: number
  readonly type: number
}

const NAMESPACES = 'svc/v1/console/namespaces'

/** The namespaces that the user may see. */
export async function listNamespaces(): Promise<Namespace[]> {
  const { data } = await request<{ data: readonly Listed[] }>('GET', NAMESPACES)
  return data.map((listed) => ({
    id: listed.namespace,
    name: listed.namespaceShowName,
    desc: listed.namespaceDesc ?? '',
    configCount: listed.configCount,
    quota: listed.quota,
    isDefault: listed.type === 0,
  }))
}

/** Makes a namespace; an empty id gets a random one. False where the id is taken. */
export const createNamespace = (id: string, name: string, desc: string): Promise<boolean> =>
  request('POST', NAMESPACES, {
    form: { customNamespaceId: id, namespaceName: name, namespaceDesc: desc || undefined },
  })

/** Changes its name and description. */
export const renameNamespace = (id: string, name: string, desc: string): Promise<boolean> =>
  request('PUT', NAMESPACES, { form: { namespace: id, namespaceShowName: name, namespaceDesc: desc } })

/** Takes it off the list; its contents stay. */
export const removeNamespace = (id: string): Promise<boolean> =>
  request('DELETE', NAMESPACES, { query: { namespaceId: id } })
