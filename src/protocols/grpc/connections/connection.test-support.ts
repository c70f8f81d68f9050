import type { Sent } from '../wire/payload.ts'
import { Asks } from './asks.ts'
import type { ClientFacts } from './client-connection.ts'
import type { ClientSession } from './client-session.ts'
import { Outbox } from './outbox.ts'
import { StreamConnection } from './stream-connection.ts'

/** A session without a socket that remembers whether it was closed. */
export class FakeSession implements ClientSession {
  readonly id: string
  readonly ip = '10.0.0.1'
  readonly port = 50_000
  readonly certificateUser = undefined
  isClosed = false

  constructor(id = '1_10.0.0.1_50000') {
    this.id = id
  }

  close(): void {
    this.isClosed = true
  }
}

const CLIENT: ClientFacts = {
  version: 'Test-Client:v1',
  module: 'naming',
  appName: '',
  clientIp: '',
  labels: new Map(),
  abilities: undefined,
}

/** A connection with what it stands on. Its clock is `nowMs`. */
export function fakeConnection(options: { asks?: Asks; id?: string; nowMs?: number } = {}) {
  const { nowMs = 0, asks = new Asks(() => nowMs) } = options
  const session = new FakeSession(options.id)
  const outbox = new Outbox()
  const connection = new StreamConnection({ session, client: CLIENT, outbox, asks, nowMs })
  return { connection, session, outbox, asks }
}

/** The body of a message that is sent. */
export function bodyOf({ body }: Sent): Record<string, unknown> {
  return JSON.parse(Buffer.from(body?.value ?? []).toString()) as Record<string, unknown>
}

/** The next message of an outbox. */
export async function nextOf(outbox: Outbox): Promise<Sent> {
  const { value } = (await outbox[Symbol.asyncIterator]().next()) as { value: Sent }
  return value
}
