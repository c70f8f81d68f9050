import type { AllServerClients, Collected } from '../../core/clients/client-views.ts'
import type { ConnectedClient, Dismissal } from '../../core/clients/connected-client.ts'
import { Refusal } from '../../core/refusal.ts'
import { afterwards } from '../afterwards.ts'
import type { ClientViews } from '../client-views.ts'
import type { Guard, Resource } from '../guard.ts'
import { cutPage, type Page, type PageRequest } from '../page.ts'

/** A page of the clients in whose id, address, library, application or user the text occurs. */
export interface ConnectedClientsRequest extends PageRequest {
  readonly text: string
}

/** A connected client, and to which server. */
export interface ListedClient extends ConnectedClient {
  readonly server: string
}

/** The clients of all servers, by server and then as they connected. `server`: the one that has replied. */
export interface ListedClients {
  readonly server: string
  readonly page: Page<ListedClient>
}

/** Makes the operations on the clients that are connected to any server. */
export function connectedClientOperations({
  guard,
  views,
}: {
  readonly guard: Guard
  readonly views: Pick<ClientViews, 'connectedClients' | 'dismiss'>
}) {
  const resources = (): Resource[] => [{ kind: 'operator' }]
  const item = ({ id }: { readonly id: string }): string => id
  const dismiss = (dismissal: Dismissal): void | Promise<void> =>
    afterwards(views.dismiss(dismissal), refuseUnknown)
  return {
    list: guard.operation({
      permission: { action: 'read', resource: 'operator' },
      resources,
      run: ({ text, ...asked }: ConnectedClientsRequest) => {
        const page = cutPage(asked)
        const most = page.pageNo * page.pageSize
        return afterwards(
          views.connectedClients({ text, most }),
          ({ value, missing }): Collected<ListedClients> => ({
            value: { server: value.own.server, page: pageAcross(value, page) },
            missing,
          }),
        )
      },
    }),
    /** Sends a client to another server, or to this one if it is the only server. Refusal `client-not-found`. */
    move: guard.operation({
      permission: { action: 'write', resource: 'operator' },
      audit: { operation: 'move client', item },
      resources,
      run: ({ id }: { readonly id: string }) => dismiss({ id, how: 'move' }),
    }),
    /** Closes the connection of a client: its instances leave, and it connects again. Refusal `client-not-found`. */
    close: guard.operation({
      permission: { action: 'write', resource: 'operator' },
      audit: { operation: 'close client', item },
      resources,
      run: ({ id }: { readonly id: string }) => dismiss({ id, how: 'close' }),
    }),
  }
}

/**
 * The requested page of all clients. Each server has listed its first ones; clients that a server did not
 * list are left out.
 */
function pageAcross(
  { own, others }: AllServerClients,
  { pageNo, pageSize }: PageRequest,
): Page<ListedClient> {
  const entries: ListedClient[] = []
  let first = (pageNo - 1) * pageSize
  let totalCount = 0
  for (const { server, count, clients } of [own, ...others].sort(byServer)) {
    const ofPage = clients.slice(Math.max(0, first), Math.max(0, first + pageSize))
    for (const client of ofPage) entries.push({ ...client, server })
    first -= count
    totalCount += count
  }
  return { entries, totalCount }
}

function byServer(a: { readonly server: string }, b: { readonly server: string }): number {
  return a.server < b.server ? -1 : 1
}

function refuseUnknown({ value: isKnown, missing }: Collected<boolean>): void {
  if (isKnown) return
  const silent = missing.length === 0 ? '' : ` These servers have not replied: ${missing.join(', ')}.`
  throw new Refusal('client-not-found', `No client with this id is connected.${silent}`)
}
