import { parseBody } from '../wire/body-reader.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Message } from '../wire/message-reader.ts'
import type { Asks } from './asks.ts'
import type { ClientFacts, ClientSession, Outlet } from './client-connection.ts'
import type { ConnectionBook } from './connection-book.ts'
import { StreamConnection } from './stream-connection.ts'
import { ownText } from '../../../core/text/own-text.ts'
import { KnownTexts } from '../../../core/text/known-texts.ts'

/** Dependencies of client streams. */
export interface ClientStreamsParts {
  readonly book: ConnectionBook
  readonly asks: Asks
  readonly monotonicMs: () => number
  /** The abilities of this server, as clients name them: `fuzzyWatch`. */
  readonly abilities: readonly string[]
  /** Whether the connection of this client may be set up now. */
  readonly isOpen: (client: ClientFacts) => boolean
}

/** The streams on which clients set their connections up, are asked, and reply. */
export class ClientStreams {
  readonly #parts: ClientStreamsParts

  constructor(parts: ClientStreamsParts) {
    this.#parts = parts
  }

  /** Begins with a stream. Its first message sets the connection up; where it does not, the stream ends. */
  open(outlet: Outlet, session: ClientSession): { received(message: Message): void; ended(): void } {
    return new ClientStream(this, outlet, session)
  }

  /** The connection; undefined where the message is no setup, and for a second stream: a session has one connection. */
  setUp(message: Message, session: ClientSession, outlet: Outlet): StreamConnection | undefined {
    const { book, asks, monotonicMs, abilities, isOpen } = this.#parts
    const setup = message.type === 'ConnectionSetupRequest' ? readBody(message) : undefined
    if (setup === undefined || book.of(session.id) !== undefined) return undefined
    const client = clientFactsOf(setup, message.clientIp)
    if (!isOpen(client)) {
      session.close()
      return undefined
    }
    const connection = new StreamConnection({ session, client, outlet, asks, nowMs: monotonicMs() })
    book.add(connection)
    if (client.negotiates) {
      const abilityTable = Object.fromEntries(abilities.map((name) => [name, true]))
      connection.send('SetupAckRequest', undefined, { abilityTable })
    }
    return connection
  }

  /** Any message on the stream is a reply, of a type that its client chooses. */
  replied(connection: StreamConnection, message: Message): void {
    const body = readBody(message)
    if (body === undefined) return
    connection.heardMs = this.#parts.monotonicMs()
    const { requestId, resultCode } = body
    if (typeof requestId === 'string') connection.replied(requestId, resultCode)
  }
}

/** The stream of a client. */
class ClientStream {
  readonly #streams: ClientStreams
  readonly #outlet: Outlet
  readonly #session: ClientSession
  #connection: StreamConnection | undefined
  #isOver = false

  constructor(streams: ClientStreams, outlet: Outlet, session: ClientSession) {
    this.#streams = streams
    this.#outlet = outlet
    this.#session = session
  }

  received(message: Message): void {
    if (this.#isOver) return
    if (this.#connection !== undefined) return this.#streams.replied(this.#connection, message)
    this.#connection = this.#streams.setUp(message, this.#session, this.#outlet)
    this.#isOver = this.#connection === undefined
    if (this.#isOver) this.#outlet.end()
  }

  ended(): void {
    this.#connection?.end('left')
  }
}

/** The body of a message; undefined where it cannot be read. */
function readBody({ body }: Message): JsonObject | undefined {
  try {
    return parseBody(body)
  } catch {
    return undefined
  }
}

/** More or longer texts that a client says of itself are cut: they are kept as long as it is connected. */
const MOST_LABELS = 64
const LONGEST = 256
/** The most characters of all labels, with their names. */
const MOST_OF_LABELS = 8 * 1024

type SharedFacts = Omit<ClientFacts, 'clientIp'>

/** The clients of an application say the same of themselves, so their connections share it. */
const KNOWN = new KnownTexts<SharedFacts>({ longest: 1_024, most: 1_000 })

/** Reads the facts in a ConnectionSetupRequest; `clientIp` comes from the message. Keys of a wrong type are ignored. */
function clientFactsOf(
  { clientVersion, labels: sent, abilityTable }: JsonObject,
  clientIp: string,
): ClientFacts {
  const text = JSON.stringify([clientVersion, sent, isObject(abilityTable)])
  const known =
    KNOWN.get(text) ?? KNOWN.keep(text, sharedFactsOf({ clientVersion, labels: sent, abilityTable }))
  const { version, module, appName, labels, negotiates } = known
  return { version, module, appName, clientIp: own(clientIp), labels, negotiates }
}

function sharedFactsOf(setup: JsonObject): SharedFacts {
  const labels = labelsOf(setup['labels'])
  return {
    version: textOf(setup['clientVersion']),
    module: labels.get('module') ?? '',
    appName: labels.get('AppName') ?? '',
    labels,
    negotiates: isObject(setup['abilityTable']),
  }
}

function labelsOf(sent: unknown): ReadonlyMap<string, string> {
  if (!isObject(sent)) return new Map()
  const texts = Object.entries(sent).filter(([, value]) => typeof value === 'string') as [string, string][]
  const labels = new Map<string, string>()
  let left = MOST_OF_LABELS
  for (const [name, value] of texts.slice(0, MOST_LABELS)) {
    left -= Math.min(name.length, LONGEST) + Math.min(value.length, LONGEST)
    if (left >= 0) labels.set(own(name), own(value))
  }
  return labels
}

function textOf(sent: unknown): string {
  return typeof sent === 'string' ? own(sent) : ''
}

function own(text: string): string {
  return ownText(text.slice(0, LONGEST))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
