import type { Operations } from '../../../../operations/operations.ts'
import { Readable } from 'node:stream'
import { LIVE_KINDS } from '../../../../core/live/live-event.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { LiveMessage, LiveStream, PlacedLiveEvent } from '../../../../operations/console/live-events.ts'
import { Type } from '../../../parameters/schema.ts'
import { Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import { headerText } from '../config/http-viewer.ts'

const EVENT_STREAM = 'text/event-stream'
const LAST_ID_HEADER = 'Last-Event-ID'
const LONGEST_ID = 128

/** The data of an event. The names depend on its kind. */
const LIVE_EVENT = Json.named(
  'LiveEvent',
  Json.object({
    kind: Json.words(LIVE_KINDS),
    revision: Json.integer('Rises with each change.'),
    namespaceId: Json.optional(Json.string()),
    group: Json.optional(Json.string()),
    dataId: Json.optional(Json.string()),
    groupName: Json.optional(Json.string()),
    serviceName: Json.optional(Json.string()),
    entry: Json.optional(Json.string('A switch.')),
    server: Json.optional(Json.string()),
    username: Json.optional(Json.string()),
    role: Json.optional(Json.string()),
  }),
)

const DATA_OF_EVENT = {
  ...Json.anyOf(
    LIVE_EVENT,
    Json.object({ reason: Json.words(['signed-out', 'too-slow', 'gave-way', 'stopping']) }),
    Json.object({}),
  ),
  description:
    'The data of an event. `changed`: that thing is different. `reset`: everything may be. `begun`: the stream begins, or continues. ' +
    '`alive`: every 15 s where nothing happens. `ended`: the last event.',
}

/** `GET …/console/events`: the changes, as server-sent events, until the session ends. */
export function eventsEndpoint(liveEvents: Operations['liveEvents']): Endpoint {
  return endpoint({
    summary: 'Tells what changes as server-sent events: names without contents, until the session ends',
    permission: liveEvents.follow.permission,
    params: Type.Object({
      lastEventId: Type.Optional(
        Type.String({ maxLength: LONGEST_ID, description: `The same as the header ${LAST_ID_HEADER}.` }),
      ),
    }),
    headers: {
      [LAST_ID_HEADER]: {
        description: 'The id of the last event of a stream before: this one continues after it.',
        required: false,
      },
    },
    answers: { [EVENT_STREAM]: DATA_OF_EVENT },
    handle: ({ params, caller }) => {
      const body = new EventBody()
      const lastId = headerText(caller, LAST_ID_HEADER) ?? params.lastEventId
      const stream = liveEvents.follow({ lastId, onMessage: () => body.pump() }, caller)
      if (stream === 'too-many') throw tooManyStreams()
      body.begin(stream)
      return answerOf(body)
    },
  })
}

function answerOf(chunks: Readable): Answer {
  // Proxies that buffer would keep events from arriving.
  const headers = { 'X-Accel-Buffering': 'no' }
  return { status: 200, contentType: EVENT_STREAM, body: '', headers, chunks }
}

/** The body of the answer: it takes messages as fast as the client reads. */
class EventBody extends Readable {
  #stream: LiveStream | undefined
  #isWanted = false

  /** Called once. The first messages may wait already. */
  begin(stream: LiveStream): void {
    this.#stream = stream
    this.pump()
  }

  /** Sends the waiting messages. */
  pump(): void {
    while (this.#isWanted) {
      const message = this.#stream?.take()
      if (message === undefined) return
      this.#isWanted = this.push(textOf(message))
      if (message.kind === 'ended') this.push(null)
    }
  }

  override _read(): void {
    this.#isWanted = true
    this.pump()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stream?.leave()
    callback(error)
  }
}

function textOf(message: LiveMessage): string {
  switch (message.kind) {
    case 'begun':
    case 'reset':
      return `event: ${message.kind}\nid: ${message.id}\ndata: {}\n\n`
    case 'alive':
      return `: nothing has happened\nevent: alive\nid: ${message.id}\ndata: {}\n\n`
    case 'changed':
      return textOfEvents(message.events, message.id)
    case 'ended':
      return `event: ended\ndata: {"reason":"${message.reason}"}\n\n`
  }
}

/** Only the last event has the id: a stream that breaks before it gets all these events again. */
function textOfEvents(events: readonly PlacedLiveEvent[], id: string): string {
  return `${events.map(dataOf).join('\n\n')}\nid: ${id}\n\n`
}

/** Made once for all streams. */
const DATA = new WeakMap<PlacedLiveEvent, string>()

function dataOf(placed: PlacedLiveEvent): string {
  const known = DATA.get(placed)
  if (known !== undefined) return known
  const { event, position: revision } = placed
  const text = `event: changed\ndata: ${JSON.stringify({ kind: event.kind, revision, ...event.names })}`
  DATA.set(placed, text)
  return text
}

function tooManyStreams(): Refusal {
  const message = 'As many browsers follow changes as may: the page asks every few seconds instead.'
  return new Refusal('server-status', message, { names: { status: 'BUSY' } })
}
