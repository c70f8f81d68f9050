import { startCluster } from '../../support/cluster.ts'
import { freePort, type Waypost } from '../../support/waypost.ts'
import { clientsOf, type Library } from './library.ts'
import { askerOf, runOf } from './plain-scenarios.ts'
import type { Scenario } from './scenario.ts'
import { connectionsOf, SENT_AWAY_TITLES, SentAway } from './sent-away.ts'
import { Ties } from './ties.ts'

/** Three servers. The one with all clients stops in order; then the clients of another one are moved, and closed. */
export const MOVE_SCENARIO: Scenario = {
  title: 'goes to another server when it is sent away',
  steps: SENT_AWAY_TITLES,
  drive: async (libraries) => {
    // Only one server runs at first, so that it has all connections. The clients know the addresses of all.
    const cluster = await startCluster({ servers: 0 })
    const ports = [await freePort(), await freePort(), await freePort()]
    const start = (index: number): Promise<Waypost> => cluster.join({}, ports[index])
    try {
      const first = await start(0)
      const spec = { servers: ports.map((port) => `127.0.0.1:${port}`) }
      const tied = async (library: Library): Promise<[Library, SentAway]> => {
        const ground = { run: runOf(library), client: clientsOf(library, spec), ask: askerOf(first.url) }
        return [library, new SentAway(await Ties.make(ground), library.version.says ?? '')]
      }
      const all = new Map(await Promise.all(libraries.map(tied)))
      const each = (take: (one: SentAway) => Promise<void>): Promise<unknown> =>
        Promise.all([...all.values()].map(take))
      await each((one) => one.isListed(askerOf(first.url)))

      const others = (await Promise.all([start(1), start(2)])).map(({ url }) => askerOf(url))
      const stopped = first.stop()
      await each((one) => one.outlives(stopped, others))

      const [from, ...rest] = [...others, askerOf((await start(0)).url)] as const
      const moved = askForAll(from!, 'PUT', 'clients/move')
      await each((one) => one.follows(moved, [from!, ...rest]))

      await Promise.all(rest.map((ask) => askForAll(ask, 'DELETE', 'clients')))
      await each((one) => one.comesBack(from!))
      return new Map([...all].map(([library, { results }]) => [library, results]))
    } finally {
      await cluster.stop()
    }
  },
}

/** Asks a server for something for each of its connections. */
async function askForAll(ask: ReturnType<typeof askerOf>, method: string, path: string): Promise<void> {
  const connections = await connectionsOf(ask)
  await Promise.all(
    connections.map(({ id }) => ask(method, `/svc/v1/console/${path}?id=${encodeURIComponent(id)}`)),
  )
}
