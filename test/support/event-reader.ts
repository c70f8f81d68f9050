import http from 'node:http'

/** A server-sent event. */
export interface ReadEvent {
  readonly type: string
  /** The id of the stream once this event has come. */
  readonly id: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any
}

const WAIT_MS = 40_000

/** Follows the event stream of a server. */
export class EventReader {
  /** All events so far. */
  readonly events: ReadEvent[] = []
  readonly status: number
  /** Whether the server has ended the stream. */
  hasEnded = false
  readonly #incoming: http.IncomingMessage
  #text = ''
  #id = ''
  #notify: () => void = () => {}

  private constructor(incoming: http.IncomingMessage) {
    this.#incoming = incoming
    this.status = incoming.statusCode ?? 0
    incoming.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    incoming.on('end', () => {
      this.hasEnded = true
      this.#notify()
    })
    incoming.on('error', () => {})
  }

  /** Opens a stream; `headers` say who opens it, and after which event it goes on. */
  static open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const request = http.get(`${url}/svc/v1/console/events`, { headers, agent: false }, (incoming) =>
        resolve(new EventReader(incoming)),
      )
      request.on('error', reject)
    })
  }

  /** The id after which another stream goes on. */
  get id(): string {
    return this.#id
  }

  /** The first event that is meant, among the events so far and later ones. */
  async find(isMeant: (event: ReadEvent) => boolean): Promise<ReadEvent> {
    await this.#until(() => this.events.some(isMeant))
    return this.events.find(isMeant)!
  }

  /** Waits until the server has ended the stream. */
  async ended(): Promise<void> {
    await this.#until(() => this.hasEnded)
  }

  close(): void {
    this.#incoming.destroy()
  }

  async #until(holds: () => boolean): Promise<void> {
    const end = Date.now() + WAIT_MS
    while (!holds()) {
      if (Date.now() > end) throw new Error(`not so in time; events: ${JSON.stringify(this.events)}`)
      await new Promise<void>((resolve) => {
        this.#notify = resolve
        setTimeout(resolve, 100)
      })
    }
  }

  #read(text: string): void {
    const blocks = (this.#text + text).split('\n\n')
    this.#text = blocks.pop() ?? ''
    for (const block of blocks) this.#add(block)
    this.#notify()
  }

  #add(block: string): void {
    const fieldOf = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    this.#id = fieldOf('id') ?? this.#id
    const data = fieldOf('data')
    if (data !== undefined)
      this.events.push({ type: fieldOf('event') ?? 'message', id: this.#id, data: JSON.parse(data) })
  }
}
