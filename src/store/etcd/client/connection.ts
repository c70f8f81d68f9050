import { readFileSync } from 'node:fs'
import { createClient } from '@connectrpc/connect'
import type { Client, Transport } from '@connectrpc/connect'
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import { type Clock, within } from './clock.ts'
import { EtcdError } from './etcd-error.ts'
import { KV, Lease, Maintenance, Watch } from './generated/rpc_pb.js'

/** One endpoint, with the calls that it offers. */
export interface EtcdConnection {
  readonly endpoint: string
  readonly kv: Client<typeof KV>
  readonly watch: Client<typeof Watch>
  readonly lease: Client<typeof Lease>
  readonly maintenance: Client<typeof Maintenance>
  /** Connects if needed. Rejects with `unavailable`, not in doubt, if that takes longer. */
  connect(limitMs: number): Promise<void>
  /** Ends the connection with all its calls. A later `connect` makes a new one. */
  close(): void
}

/** Files for TLS: endpoints begin with `https:`. */
export interface TlsFiles {
  /** The authorities that are trusted, instead of those of Node. */
  readonly ca?: string
  /** The certificate of this client with its key, where etcd asks for one. */
  readonly cert?: string
  readonly key?: string
}

/** etcd ends a connection that is pinged more often than every 5 s, or while they have no call. */
const PING = { pingIntervalMs: 6_000, pingTimeoutMs: 2_000, pingIdleConnection: false }

/** Makes connections over HTTP/2. */
export function connectTo(clock: Clock, tls: TlsFiles = {}): (endpoint: string) => EtcdConnection {
  const files = Object.entries(tls).map(([name, file]) => [name, readFileSync(file as string)])
  const options = Object.fromEntries(files) as Record<string, Buffer>
  return (endpoint) => {
    const session = new Http2SessionManager(endpoint, PING, options)
    const transport = createGrpcTransport({
      baseUrl: endpoint,
      sessionManager: session,
      acceptCompression: [],
    })
    return connectionOver(endpoint, transport, {
      connect: (limitMs) => connect(session, clock, limitMs),
      close: () => session.abort(),
    })
  }
}

/** A connection over any transport. */
export function connectionOver(
  endpoint: string,
  transport: Transport,
  session: Pick<EtcdConnection, 'connect' | 'close'>,
): EtcdConnection {
  return {
    endpoint,
    kv: createClient(KV, transport),
    watch: createClient(Watch, transport),
    lease: createClient(Lease, transport),
    maintenance: createClient(Maintenance, transport),
    ...session,
  }
}

async function connect(session: Http2SessionManager, clock: Clock, limitMs: number): Promise<void> {
  await within(clock, limitMs, session.connect())
  const state = session.state()
  if (state === 'open' || state === 'idle') return
  const cause = session.error()
  // A half open connection would keep later calls waiting.
  session.abort()
  throw new EtcdError('unavailable', `etcd at ${session.authority} cannot be reached`, { cause })
}
