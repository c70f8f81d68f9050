import { setTimeout as sleep } from 'node:timers/promises'
import { type Body, connectGrpc, type GrpcClient, type Spoken } from '../../../support/grpc-client.ts'
import type { ClientParts } from './clients.ts'

/** A client asks so often whether its server is there, and waits so long for an answer before it takes another server. */
const HEALTH_MS = 1_000
const HEALTH_LIMIT_MS = 2_500
const CONNECT_LIMIT_MS = 3_000
/** How long a request may take: a change is answered after 2 s. */
const ASK_LIMIT_MS = 4_000
const RETRY_MS = 200
const LOOK_MS = 100

/** A client that is connected now. */
export interface Connected {
  readonly server: number
  readonly grpc: GrpcClient
  /** Asks for something. Rejects where it is refused, or not answered in time. */
  ask(type: string, body: Body): Promise<Body>
}

/** How a client uses its connection. */
export interface KeptOptions {
  readonly module: 'config' | 'naming'
  /** The properties that the application reports. */
  readonly labels?: Readonly<Record<string, string>>
  /** Called with each connection. It is called again until it resolves, or the connection is lost. */
  readonly begin: (connected: Connected) => Promise<void>
  /** Called with each request of the server. */
  readonly asked?: (request: Spoken) => void
}

/** Keeps a connection to one server, as clients do: when it is lost, or nothing is answered, it goes to the next server. */
export async function keepConnection(parts: ClientParts, options: KeptOptions): Promise<void> {
  const { grpcPorts, home, isStopped } = parts
  for (let server = home; !isStopped(); server = (server + 1) % grpcPorts.length) {
    const connected = await connect(parts, server, options).catch(() => undefined)
    if (connected !== undefined) await hold(connected, options, isStopped)
    await connected?.grpc.close()
    if (!isStopped()) await sleep(RETRY_MS)
  }
}

/** Connects to a server once. Rejects where that takes too long. */
export async function connect(
  { grpcPorts, urls }: Pick<ClientParts, 'grpcPorts' | 'urls'>,
  server: number,
  { module, labels, asked }: Pick<KeptOptions, 'module' | 'labels' | 'asked'>,
): Promise<Connected> {
  const broken = new AbortController()
  const late = setTimeout(() => broken.abort(), CONNECT_LIMIT_MS)
  try {
    const grpc = await connectGrpc(
      { port: Number(new URL(urls[server]!).port) },
      {
        grpcPort: grpcPorts[server]!,
        signal: broken.signal,
        setup: { labels: { source: 'sdk', module, ...labels } },
        reply: (request) => {
          asked?.(request)
          return {}
        },
      },
    )
    return { server, grpc, ask: async (type, body) => answerOf(grpc, { type, body }, ASK_LIMIT_MS) }
  } finally {
    clearTimeout(late)
  }
}

/** Resolves when the connection is lost, or nobody needs it. */
async function hold(connected: Connected, { begin }: KeptOptions, isStopped: () => boolean): Promise<void> {
  const { grpc } = connected
  let isBegun = false
  while (!isStopped() && !grpc.session.destroyed) {
    // They are not needed: each was passed on when it came.
    grpc.waiting.splice(0)
    const isHealthy = await answerOf(grpc, { type: 'HealthCheckRequest', body: {} }, HEALTH_LIMIT_MS).then(
      () => true,
      () => false,
    )
    if (!isHealthy) return grpc.session.destroy()
    if (!isBegun)
      isBegun = await begin(connected).then(
        () => true,
        () => false,
      )
    await Promise.race([sleep(isBegun ? HEALTH_MS : RETRY_MS), grpc.ended])
  }
}

/** Waits. A time in which this process did not run counts as one look: what has come meanwhile is read first. */
async function patience(ms: number): Promise<undefined> {
  for (let leftMs = ms; leftMs > 0; leftMs -= LOOK_MS) await sleep(LOOK_MS)
  return undefined
}

/** The body of a successful answer. */
async function answerOf(
  grpc: GrpcClient,
  { type, body }: Omit<Spoken, 'text'>,
  limitMs: number,
): Promise<Body> {
  const asking = grpc.ask(type, body)
  asking.catch(() => undefined)
  const answer = await Promise.race([asking, patience(limitMs)])
  if (answer?.body['resultCode'] !== 200)
    throw new Error(`${type}: ${JSON.stringify(answer?.body ?? 'no answer')}`)
  return answer.body
}
