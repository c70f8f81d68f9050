import { type AsAdministrator, startManaged } from '../../support/administrator.ts'
import { startRustServer } from '../../move/rust-server.ts'
import { importHead } from '../../move/swap-steps.ts'
import { askerOf } from '../grpc/plain-scenarios.ts'

/** The server before. */
export interface OldServer {
  /** Of HTTP; gRPC is 1000 above. */
  readonly port: number
  /** Asks it for what is under `/svc/v1` here. */
  readonly ask: AsAdministrator
  readonly stop: () => Promise<unknown>
}

/** So far are lists of the old server ahead: libraries drop later ones that are not. */
const AHEAD_MS = 30_000

/** A server that plays the old one, with lists that are ahead. */
export async function startAhead(): Promise<OldServer> {
  const old = await startManaged({ settings: { auth: 'report' } })
  await importHead(old, Date.now() + AHEAD_MS)
  return { port: old.waypost.port, ask: old.ask, stop: () => old.waypost.stop() }
}

/** The Rust server. */
export async function startRust(): Promise<OldServer> {
  const server = await startRustServer()
  const ask = askerOf(`http://127.0.0.1:${server.port}`)
  return {
    port: server.port,
    ask: (method, path, form) => ask(method, path.replace('/svc/v1', '/nacos/v1'), form),
    stop: async () => server.stop(),
  }
}
