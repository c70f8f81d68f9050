import type { ClosedInstance, KeptInstance } from '../load/connected.ts'
import type { ListOfService } from '../load/recording.ts'

/** Other servers may learn of a registration so much later, ms. */
const NEWS_MS = 2_000

/** The lists in which an instance that its client keeps registered is missing or unhealthy. */
export function missingConnected(
  lists: readonly ListOfService[],
  instances: readonly KeptInstance[],
): string[] {
  return lists.flatMap(({ server, hosts, begunMs }) =>
    instances
      .filter(({ sinceMs = Infinity }) => begunMs >= sinceMs + NEWS_MS)
      .filter(({ address }) => hosts.get(address) !== true)
      .map(({ address }) => {
        const how = hosts.has(address) ? 'unhealthy' : 'missing'
        return `server ${server + 1}: ${address} is ${how} at ${Math.round(begunMs)}`
      }),
  )
}

/** The lists that still have an instance so long after its client has closed its connection to a server that is not struck. */
export function leftBehind(
  lists: readonly ListOfService[],
  closed: readonly ClosedInstance[],
  { struck, limitMs }: { readonly struck: readonly number[]; readonly limitMs: number },
): string[] {
  const ended = closed.filter(({ server }) => !struck.includes(server))
  return lists
    .filter(({ server }) => !struck.includes(server))
    .flatMap(({ server, hosts, begunMs }) =>
      ended
        .filter(({ address, closedMs }) => begunMs >= closedMs + limitMs && hosts.has(address))
        .map(({ address, closedMs }) => {
          const lateMs = Math.round(begunMs - closedMs)
          return `server ${server + 1} lists ${address} ${lateMs} ms after its connection was closed`
        }),
    )
}
