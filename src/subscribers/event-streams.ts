import { contained, guarded } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { type LiveEvent, liveEventsOf, liveKeyOf, watchersChanged } from '../core/live/live-event.ts'
import { ClientTurns, type TurnPlace } from '../core/work/client-turns.ts'
import { SlicedWork } from '../core/work/sliced-work.ts'
import { EventStream, type StreamEnd, type EventStreamRequest } from './event-stream.ts'
import { PublishedLately } from './published-lately.ts'
import { type PlacedEvent, RecentEvents } from './recent-events.ts'
import type { WatchLoop } from './service-watch.ts'

/** How long events are gathered: a thing that changes several times in it is reported once. */
const GATHER_MS = 100
/** The most things of one gathering; where more have changed, streams get a `reset`. */
const MOST_GATHERED = 1_000
/** A stream on which nothing was sent for this long gets a sign of life. */
const ALIVE_EVERY_MS = 15_000
/** How long a client may leave messages unread. */
const MOST_WAITING_MS = 30_000
/** How long changes are remembered for a stream to come back, after the last one has left. */
const KEPT_MS = 60_000
/** How long after a publish the clients of the item are of interest. */
const WATCHED_MS = 60_000
/** How long after a publish clients without the new version count as behind, and a little more. */
const BEHIND_AFTER_MS = 10_500

/** The options of event streams. */
export interface EventStreamsOptions {
  readonly loop: WatchLoop
  /** Names the source of positions: servers that share a store have the same origin. */
  readonly origin: string
  /** Whether positions are the revisions of the store, which several servers share; else they are this server's own. */
  readonly isShared: boolean
  /** The revision of the store that was loaded. */
  readonly revision: number
  readonly maxStreams: number
  /** 0: no limit. */
  readonly maxStreamsOfAddress: number
}

/** The number of streams, and counts since the start. */
export interface EventStreamCounts {
  readonly open: number
  readonly opened: number
  readonly refused: number
  /** Opened with the id of an earlier stream, and continued after it. */
  readonly resumed: number
  readonly resets: number
  /** Streams that this server has ended, by reason. */
  readonly ended: Readonly<Record<StreamEnd, number>>
  /** Gathered events, each counted once for all streams. */
  readonly events: number
}

/** One gathering on its way to the streams. */
interface GatheredEvents {
  readonly id: string
  /** Undefined: too many, each stream gets a `reset`. */
  readonly events: readonly PlacedEvent[] | undefined
  readonly streams: EventStream[]
}

/**
 * Reports changes to browsers. Changes are gathered for a moment, and sent to the streams in slices, each
 * event judged for each stream. A position is the revision of the store, or a number of this server's own. A
 * message has the latest position as its id, so an interrupted stream continues where it has stopped, also on
 * another server. Nothing is gathered or remembered while nobody follows.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions
  readonly #recent = new RecentEvents()
  /** Each with its place among the streams of its owner. */
  readonly #streams = new Map<EventStream, TurnPlace<EventStream>>()
  readonly #turns = new ClientTurns<EventStream>()
  readonly #ofAddress = new Map<string, number>()
  #origin: string
  #position = 0
  /**
   * The position up to which the streams have got everything, or are about to: everything that is not gathered still.
   */
  #sentPosition = 0
  #reloads = 0
  #gathered = new Map<string, PlacedEvent>()
  #isGathering = false
  readonly #rounds: GatheredEvents[] = []
  readonly #work: SlicedWork
  /** Until when changes are remembered although there is no stream; -Infinity: they are not. */
  #keptUntilMs = -Infinity
  /** The items whose readers are reported. */
  readonly #published = new PublishedLately({ lateMs: BEHIND_AFTER_MS, overMs: WATCHED_MS })
  readonly #counts = { opened: 0, refused: 0, resumed: 0, resets: 0, events: 0 }
  readonly #ended = { 'signed-out': 0, 'too-slow': 0, 'gave-way': 0, stopping: 0 }
  #stopped = false

  constructor(options: EventStreamsOptions) {
    this.#options = options
    this.#origin = options.origin
    this.#position = options.isShared ? options.revision : 0
    this.#work = new SlicedWork(options.loop, () => this.#step())
  }

  counts(): EventStreamCounts {
    return { open: this.#streams.size, ...this.#counts, ended: { ...this.#ended } }
  }

  /** Opens a stream; its first message waits already. 'too-many' where a limit is reached. */
  open(request: EventStreamRequest): EventStream | 'too-many' {
    const { loop } = this.#options
    if (!this.#makePlace(request)) {
      this.#counts.refused++
      return 'too-many'
    }
    if (!this.#isAwake) this.#recent.beginAt(this.#position)
    this.#counts.opened++
    const stream = new EventStream(request, { nowMs: loop.now, leave: this.#leave })
    this.#streams.set(stream, this.#turns.add(request.owner, stream))
    this.#ofAddress.set(request.ip, (this.#ofAddress.get(request.ip) ?? 0) + 1)
    this.#begin(stream, request.lastId)
    if (this.#stopped) this.#end(stream, 'stopping')
    return stream
  }

  /** Call it with every change, after State has applied it. */
  readonly onChange = (change: Change, revision: number): void => {
    this.#position = this.#options.isShared ? revision : this.#position + 1
    if (!this.#isAwake) return
    for (const event of liveEventsOf(change)) this.#gather(event)
    if (change.kind === 'config-published')
      this.#published.published(change.item.key, this.#options.loop.now())
  }

  /** Everything was loaded again: the events in between are not known. */
  reloaded(): void {
    this.#origin = `${this.#options.origin}.${Math.round(this.#options.loop.now())}.${++this.#reloads}`
    this.#recent.beginAt(this.#position)
    this.#gathered.clear()
    this.#addRound(undefined)
  }

  /** Reports something that is no change of the store. It is not repeated for streams that come back. */
  note(event: LiveEvent): void {
    if (this.#streams.size > 0) this.#gather(event)
  }

  /** A client watches these items, with a version that it has. */
  readonly onWatched = (items: readonly WatchedItem[]): void => {
    if (this.#published.size === 0) return
    for (const { key } of items) if (this.#published.has(key)) this.note(watchersChanged(key))
  }

  /** Ends the streams of those who may not follow any more, and keeps the others alive. Call it about once a second. */
  tick(nowMs: number): void {
    // While a round is under way, its id is not the latest one yet.
    const isIdle = this.#rounds.length === 0
    for (const stream of this.#streams.keys())
      contained(
        'push',
        () => stream.leave(),
        () => this.#lookAt(stream, nowMs, isIdle),
      )
    // Clients that have not got an item by now are behind; later their state is not known any longer.
    for (const key of this.#published.due(nowMs)) this.note(watchersChanged(key))
  }

  #lookAt(stream: EventStream, nowMs: number, isIdle: boolean): void {
    if (!stream.isSignedIn) this.#end(stream, 'signed-out')
    else if (stream.waitsForMs(nowMs) > MOST_WAITING_MS) this.#end(stream, 'too-slow')
    else if (isIdle && stream.quietForMs(nowMs) >= ALIVE_EVERY_MS) this.#say(stream, 'alive')
  }

  /** Ends every stream, and every later one too. Call it when the server stops. */
  endAll(): void {
    this.#stopped = true
    for (const stream of this.#streams.keys()) this.#end(stream, 'stopping')
  }

  /** Whether there is a place for a stream, maybe because a stream of an owner with more streams gives way. */
  #makePlace({ ip, owner }: EventStreamRequest): boolean {
    const { maxStreams, maxStreamsOfAddress } = this.#options
    const ofAddress = this.#ofAddress.get(ip) ?? 0
    if (maxStreamsOfAddress > 0 && ofAddress >= maxStreamsOfAddress) return false
    if (this.#streams.size < maxStreams) return true
    const other = this.#turns.givesWayTo(owner, 'oldest')
    if (other !== undefined) this.#end(other.thing, 'gave-way')
    return other !== undefined
  }

  get #isAwake(): boolean {
    return this.#streams.size > 0 || this.#options.loop.now() < this.#keptUntilMs
  }

  get #id(): string {
    if (!this.#isGathering) this.#sentPosition = this.#position
    return `${this.#origin}-${this.#sentPosition}`
  }

  /** A client that comes back gets the missed events, or a `reset`. */
  #begin(stream: EventStream, lastId: string | undefined): void {
    const missed = lastId === undefined ? [] : this.#since(lastId)
    if (missed === undefined) return this.#say(stream, 'reset')
    this.#say(stream, 'begun')
    if (lastId === undefined) return
    this.#counts.resumed++
    stream.tell(missed, this.#id)
  }

  /** The changes since a message of this server, or of one that shares its store. */
  #since(lastId: string): readonly PlacedEvent[] | undefined {
    const [origin, position] = lastId.split(/-(?=\d{1,16}$)/)
    if (origin !== this.#origin || position === undefined || Number(position) > this.#position)
      return undefined
    return this.#recent.since(Number(position))
  }

  #gather(event: LiveEvent): void {
    const { loop } = this.#options
    const key = liveKeyOf(event)
    if (this.#gathered.size > MOST_GATHERED) return
    this.#gathered.delete(key)
    this.#gathered.set(key, { event, position: this.#position })
    if (this.#isGathering) return
    this.#sentPosition = this.#position - 1
    this.#isGathering = true
    loop.after(
      GATHER_MS,
      guarded(
        'push',
        () => this.#miss(),
        () => this.#send(),
      ),
    )
  }

  /** The gathered events are lost: each stream reports that everything may have changed. */
  #miss(): void {
    this.#gathered = new Map()
    this.#isGathering = false
    this.#recent.beginAt(this.#position)
    this.#addRound(undefined)
  }

  #send(): void {
    const events = [...this.#gathered.values()]
    this.#gathered = new Map()
    this.#isGathering = false
    this.#counts.events += events.length
    if (events.length > MOST_GATHERED) {
      this.#recent.beginAt(this.#position)
      return this.#addRound(undefined)
    }
    for (const placed of events) if (isKept(placed.event)) this.#recent.add(placed)
    this.#addRound(events)
  }

  #addRound(events: GatheredEvents['events']): void {
    if (this.#streams.size === 0 || events?.length === 0) return
    this.#rounds.push({ id: this.#id, events, streams: [...this.#streams.keys()] })
    this.#work.start()
  }

  /** Serves one stream. */
  #step(): boolean {
    const [round] = this.#rounds
    const stream = round?.streams.pop()
    if (round === undefined) return false
    if (stream === undefined) this.#rounds.shift()
    else if (this.#streams.has(stream))
      contained(
        'push',
        () => this.#say(stream, 'reset'),
        () => this.#tell(stream, round),
      )
    return this.#rounds.length > 0
  }

  #tell(stream: EventStream, { events, id }: GatheredEvents): void {
    if (events === undefined) this.#say(stream, 'reset')
    else stream.tell(events, id)
  }

  #say(stream: EventStream, kind: 'begun' | 'reset' | 'alive'): void {
    if (kind === 'reset') this.#counts.resets++
    stream.say({ kind, id: this.#id })
  }

  #end(stream: EventStream, reason: StreamEnd): void {
    this.#ended[reason]++
    stream.end(reason)
  }

  readonly #leave = (stream: EventStream): void => {
    const place = this.#streams.get(stream)
    if (place === undefined) return
    this.#streams.delete(stream)
    this.#turns.leave(place)
    const others = (this.#ofAddress.get(stream.ip) ?? 1) - 1
    if (others === 0) this.#ofAddress.delete(stream.ip)
    else this.#ofAddress.set(stream.ip, others)
    if (this.#streams.size === 0) this.#keptUntilMs = this.#options.loop.now() + KEPT_MS
  }
}

/** Whether a stream that comes back gets the event: facts that are true for a moment only are looked up anyway. */
function isKept({ kind }: LiveEvent): boolean {
  return kind !== 'watchers' && kind !== 'condition' && kind !== 'audit'
}
