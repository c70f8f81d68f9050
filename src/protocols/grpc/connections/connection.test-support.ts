import type { ServerMessage } from '../wire/payload.ts'
import { textOf } from '../wire/sent-json.test-support.ts'
import { Asks } from './asks.ts'
import type { ClientFacts, ClientSession, Outlet } from './client-connection.ts'
import { StreamConnection } from './stream-connection.ts'

/** A session without a socket that remembers whether it was closed. */
export class FakeSession implements ClientSession {
  readonly id: string
  readonly ip = '10.0.0.1'
  readonly port = 50_000
  readonly certificateUser = undefined
  isClosed = false
  isKnown = false
  owner = ''

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
  negotiates: false,
}

/** An outlet that keeps the sent messages. */
export class FakeOutlet implements Outlet {
  readonly sent: ServerMessage[] = []
  isFull = false

  send(message: ServerMessage): boolean {
    this.sent.push(message)
    return !this.isFull
  }

  end(): void {}
}

interface FakeOptions {
  readonly asks?: Asks
  readonly id?: string
  readonly nowMs?: number
  /** How its client calls itself. */
  readonly version?: string
}

/** A connection with its parts. Its clock is `nowMs`. */
export function fakeConnection(options: FakeOptions = {}) {
  const { nowMs = 0, asks = new Asks(() => nowMs), version = CLIENT.version } = options
  const session = new FakeSession(options.id)
  const outlet = new FakeOutlet()
  const connection = new StreamConnection({ session, client: { ...CLIENT, version }, outlet, asks, nowMs })
  return { connection, session, outlet, asks }
}

/** The body of a message that is sent. */
export function bodyOf({ body }: Pick<ServerMessage, 'body'>): Record<string, unknown> {
  return JSON.parse(textOf(body)) as Record<string, unknown>
}

/** Takes the next message of an outlet. */
export function nextOf({ sent }: FakeOutlet): ServerMessage | undefined {
  return sent.shift()
}
