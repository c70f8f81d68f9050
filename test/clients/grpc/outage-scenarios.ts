import { startManaged, type AsAdministrator } from '../../support/administrator.ts'
import { startCluster } from '../../support/cluster.ts'
import { freePort, startWaypost } from '../../support/waypost.ts'
import { clientsOf } from './library.ts'
import { Outage, OUTAGE_TITLES } from './outage.ts'
import { askerOf, runOf, signedIn, USER } from './plain-scenarios.ts'
import { withEach, type Scenario } from './scenario.ts'

/** A server whose clients must sign in, and which restarts. */
export const RESTART_SCENARIO: Scenario = {
  title: 'goes on when the server restarts',
  steps: OUTAGE_TITLES,
  drive: async (libraries) => {
    const { waypost, ask, addUser } = await startManaged()
    await addUser(USER)
    const spec = { servers: [`127.0.0.1:${waypost.port}`], ...signedIn(USER) }
    let server = waypost
    try {
      const outages = new Map(
        libraries.map((library) => [
          library,
          new Outage({ run: runOf(library), client: clientsOf(library, spec), ask }),
        ]),
      )
      await Promise.all([...outages.values()].map((outage) => outage.prepare()))
      await waypost.stop()
      // Without gRPC no client is connected while the items change.
      const { port, dataDir } = waypost
      server = await startWaypost({ port, dataDir, settings: { auth: 'on', 'grpc-port': 0 } })
      await Promise.all([...outages.values()].map((outage) => outage.change(ask)))
      await server.stop()
      server = await startWaypost({ port, dataDir, settings: { auth: 'on' } })
      return await withEach(libraries, (library) => outages.get(library)!.recover(ask))
    } finally {
      await server.stop()
    }
  },
}

/** Three servers, of which that is killed to which all clients are connected. */
export const KILL_SCENARIO: Scenario = {
  title: 'goes on when one of three servers is killed',
  steps: OUTAGE_TITLES,
  drive: async (libraries) => {
    // Only one server runs at first, so that it has all connections. The clients know the addresses of all.
    const ports = [await freePort(), await freePort(), await freePort()]
    const cluster = await startCluster({ servers: 0 })
    try {
      const first = await cluster.join({}, ports[0])
      const spec = { servers: ports.map((port) => `127.0.0.1:${port}`) }
      const outages = new Map(
        libraries.map((library) => [
          library,
          new Outage({ run: runOf(library), client: clientsOf(library, spec), ask: askerOf(first.url) }),
        ]),
      )
      await Promise.all([...outages.values()].map((outage) => outage.prepare()))
      const [second] = await Promise.all(ports.slice(1).map((port) => cluster.join({}, port)))
      const ask: AsAdministrator = askerOf(second!.url)
      await first.kill()
      await Promise.all([...outages.values()].map((outage) => outage.change(ask)))
      return await withEach(libraries, (library) => outages.get(library)!.recover(ask))
    } finally {
      await cluster.stop()
    }
  },
}
