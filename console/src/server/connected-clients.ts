import type { ConnectedClient as Listed, ConnectedClients } from './answers.ts'
import { request, requestText } from './request.ts'

const CLIENTS = 'svc/v1/console/clients'

/** How many clients a page has. */
export const CONNECTED_CLIENTS_PAGE_SIZE = 100

/** A client that is connected by gRPC; `heardMs`: when something came from it, epoch ms. */
export interface ConnectedClient extends Listed {
  readonly heardMs: number
}

/** A page of the clients in whose address, library or application the text occurs. */
export async function findConnectedClients(
  text: string,
  pageNo: number,
): Promise<Omit<ConnectedClients, 'pageItems'> & { readonly pageItems: readonly ConnectedClient[] }> {
  const query = { search: text === '' ? undefined : text, pageNo, pageSize: CONNECTED_CLIENTS_PAGE_SIZE }
  const page = await request<ConnectedClients>('GET', CLIENTS, { query })
  const nowMs = Date.now()
  const pageItems = page.pageItems.map((each) => ({ ...each, heardMs: nowMs - each.heardAgoMs }))
  return { ...page, pageItems }
}

/** Sends a client to another server. */
export const moveClient = (id: string): Promise<string> =>
  requestText('PUT', `${CLIENTS}/move`, { form: { id } })

/** Closes the connection of a client. */
export const closeClient = (id: string): Promise<string> => requestText('DELETE', CLIENTS, { query: { id } })
