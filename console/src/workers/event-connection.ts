import type { LiveEvent } from '../server/events.ts'
import type { ConnectionState, LiveMessage } from './live-message.ts'

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 5_000
/** The server says something every 15 s: where it does not arrive, something in between holds it back. */
const SILENCE_MS = 35_000

/** The part of `EventSource` that is used. */
export type Source = Pick<EventSource, 'addEventListener' | 'close'>

/** The dependencies of a connection. */
export interface ConnectionOptions {
  readonly open: (address: string) => Source
  readonly tell: (message: LiveMessage) => void
  /** Calls once, later; the answer takes it back. */
  readonly after: (ms: number, run: () => void) => () => void
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * The stream of events of a browser. It connects again after a while, longer each time, and continues after
 * the last event that it has seen. The server reports where it cannot.
 */
export class EventConnection {
  readonly #options: ConnectionOptions
  #address = ''
  #source: Source | undefined
  #state: ConnectionState = 'ended'
  #lastId = ''
  #failures = 0
  #cancel: () => void = () => {}

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Connects now, unless it is connected. Another address has events of its own. */
  start(address: string): void {
    if (address !== this.#address) {
      this.#close()
      this.#lastId = ''
    }
    this.#address = address
    if (this.#source !== undefined) return
    this.#failures = 0
    this.#open()
  }

  stop(): void {
    this.#close()
    this.#set('ended')
  }

  #open(): void {
    this.#cancel()
    const source = (this.#source = this.#options.open(this.#addressNow()))
    this.#set('connecting')
    this.#expect()
    const on = (type: string, run: (data: string) => void): void =>
      source.addEventListener(type, (event) => {
        if (source !== this.#source) return
        const { data, lastEventId } = event as MessageEvent<string>
        if (lastEventId) this.#lastId = lastEventId
        this.#expect()
        run(data)
      })
    // Data read before the first stream began may be old by then.
    const isFirst = this.#lastId === ''
    on('begun', () => this.#began(isFirst))
    on('reset', () => this.#began(true))
    on('alive', () => {})
    on('changed', (data) => this.#options.tell({ type: 'changed', event: JSON.parse(data) as LiveEvent }))
    on('ended', (data) => this.#ended((JSON.parse(data) as { reason: string }).reason))
    on('error', () => this.#retry())
  }

  #addressNow(): string {
    if (this.#lastId === '') return this.#address
    const id = `lastEventId=${encodeURIComponent(this.#lastId)}`
    return `${this.#address}${this.#address.includes('?') ? '&' : '?'}${id}`
  }

  #began(isReset: boolean): void {
    this.#failures = 0
    this.#set('live')
    if (isReset) this.#options.tell({ type: 'reset' })
  }

  #ended(reason: string): void {
    if (reason === 'signed-out') this.stop()
    else this.#retry()
  }

  #retry(): void {
    this.#close()
    this.#set('waiting')
    const longestMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++)
    // Pages that were cut together do not come back together.
    const ms = longestMs * (0.5 + this.#options.random() / 2)
    this.#cancel = this.#options.after(ms, () => this.#open())
  }

  /** Gives up when nothing comes. */
  #expect(): void {
    this.#cancel()
    this.#cancel = this.#options.after(SILENCE_MS, () => this.#retry())
  }

  #close(): void {
    this.#cancel()
    this.#source?.close()
    this.#source = undefined
  }

  #set(state: ConnectionState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.tell({ type: 'state', state })
  }
}

/** A connection of this page or worker. */
export function openConnection(tell: ConnectionOptions['tell']): EventConnection {
  return new EventConnection({
    open: (address) => new EventSource(address),
    tell,
    after: (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    random: Math.random,
  })
}
