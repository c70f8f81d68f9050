import { startCluster } from '../../support/cluster.ts'
import { freePort, type Waypost } from '../../support/waypost.ts'
import { clientsOf, type Library } from './library.ts'
import { Outage, OUTAGE_TITLES } from './outage.ts'
import { askerOf, driveOpen, OPEN_SCENARIO, runOf } from './plain-scenarios.ts'
import { Cast, type Scenario, type Stage } from './scenario.ts'
import { connectionsOf, SENT_AWAY_TITLES, SentAway } from './sent-away.ts'

const KILL_SCENARIO: Scenario = {
  title: 'goes on when one of three servers is killed',
  steps: OUTAGE_TITLES,
}

const MOVE_SCENARIO: Scenario = {
  title: 'goes to another server when it is sent away',
  steps: SENT_AWAY_TITLES,
}

/** What one library has on the stage: the same ties are cut and sent away. */
interface Actor {
  readonly outage: Outage
  readonly sentAway: SentAway
}

/**
 * Three servers. The one with all clients is killed, and meanwhile the libraries do all else on another one. Later the one with all
 * clients stops in order; then the clients of a server are moved, and those of the others closed.
 */
export const CLUSTER_STAGE: Stage = {
  scenarios: [OPEN_SCENARIO, KILL_SCENARIO, MOVE_SCENARIO],
  drive: async (libraries) => {
    // Only one server runs at first, so that it has all connections. The clients know the addresses of all.
    const cluster = await startCluster({ servers: 0 })
    const ports = [await freePort(), await freePort(), await freePort()] as const
    const start = (index: 0 | 1 | 2): Promise<Waypost> => cluster.join({}, ports[index])
    try {
      const first = await start(0)
      const ask = askerOf(first.url)
      const cast = await Cast.of(libraries, (library) => actorOf(library, ports, ask))
      await cast.each(({ sentAway }) => sentAway.isListed(ask))
      const [second, third] = await Promise.all([start(1), start(2)])
      await first.kill()
      const [open] = await Promise.all([driveOpen(libraries, second), outlast(cast, second)])
      await second.stop()
      await cast.each(({ sentAway }) => sentAway.arrives(askerOf(third.url)))
      const others = (await Promise.all([start(0), start(1)])).map(({ url }) => askerOf(url))
      const stopped = third.stop()
      await cast.each(({ sentAway }) => sentAway.outlives(stopped, others))
      await moveAndClose(cast, others[0]!, [others[1]!, askerOf((await start(2)).url)])
      await cast.each(({ outage }) => outage.leave(others[0]!))
      return new Map([
        [OPEN_SCENARIO, open],
        [KILL_SCENARIO, cast.results(({ outage }) => outage.results)],
        [MOVE_SCENARIO, cast.results(({ sentAway }) => sentAway.results)],
      ])
    } finally {
      await cluster.stop()
    }
  },
}

type Ask = ReturnType<typeof askerOf>

async function actorOf(library: Library, ports: readonly number[], ask: Ask): Promise<Actor> {
  const client = clientsOf(library, { servers: ports.map((port) => `127.0.0.1:${port}`) })
  const outage = new Outage({ run: runOf(library), client, ask })
  const ties = await outage.prepare()
  return { outage, sentAway: new SentAway(ties, library.version.says ?? '') }
}

/** A server has been killed; `living`: another one. */
async function outlast(cast: Cast<Actor>, living: Waypost): Promise<void> {
  const ask = askerOf(living.url)
  await cast.each(({ outage }) => outage.change(ask))
  await cast.each(({ outage }) => outage.recover(ask))
}

/** Moves the clients of a server to others, and closes those of the others. */
async function moveAndClose(cast: Cast<Actor>, from: Ask, others: readonly Ask[]): Promise<void> {
  const connections = await connectionsOf(from)
  const moved = askForAll(from, 'PUT', 'clients/move')
  await cast.each(({ sentAway }) => sentAway.follows([from, ...others], { connections, moved }))
  await Promise.all(others.map((ask) => askForAll(ask, 'DELETE', 'clients')))
  await cast.each(({ sentAway }) => sentAway.comesBack(from))
}

/** Asks a server for something for each of its connections. */
async function askForAll(ask: Ask, method: string, path: string): Promise<void> {
  const connections = await connectionsOf(ask)
  await Promise.all(
    connections.map(({ id }) => ask(method, `/svc/v1/console/${path}?id=${encodeURIComponent(id)}`)),
  )
}
