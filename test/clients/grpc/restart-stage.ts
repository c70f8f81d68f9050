import { startManaged } from '../../support/administrator.ts'
import { startWaypost } from '../../support/waypost.ts'
import { clientsOf } from './library.ts'
import { Outage, OUTAGE_TITLES } from './outage.ts'
import { runOf, signedIn, USER } from './plain-scenarios.ts'
import { Cast, stageOf } from './scenario.ts'

const SCENARIO = { title: 'goes on when the server restarts', steps: OUTAGE_TITLES }

/** A server whose clients must sign in, and which restarts. */
export const RESTART_STAGE = stageOf(SCENARIO, async (libraries) => {
  const { waypost, ask, addUser } = await startManaged()
  await addUser(USER)
  const spec = { servers: [`127.0.0.1:${waypost.port}`], ...signedIn(USER) }
  let server = waypost
  try {
    const cast = await Cast.of(libraries, async (library) => {
      const outage = new Outage({ run: runOf(library), client: clientsOf(library, spec), ask })
      await outage.prepare()
      return outage
    })
    await waypost.stop()
    // Without gRPC no client is connected while the items change.
    const { port, dataDir } = waypost
    server = await startWaypost({ port, dataDir, settings: { auth: 'on', 'grpc-port': 0 } })
    await cast.each((outage) => outage.change(ask))
    await server.stop()
    server = await startWaypost({ port, dataDir, settings: { auth: 'on' } })
    await cast.each((outage) => outage.recover(ask))
    await cast.each((outage) => outage.leave(ask))
    return cast.results(({ results }) => results)
  } finally {
    await server.stop()
  }
})
