import { type CallListener, Http2Wire, postHeads, type RepeatedHead } from './http2-wire.ts'

/** A message of a server. Its body is read only where a load needs it. */
export interface Heard {
  /** JSON. */
  readonly body: Buffer
  readonly type: string
}

const NOTHING = Buffer.alloc(0)
const CALL = { 'content-type': 'application/grpc', te: 'trailers' }

/** The client side of gRPC as loads need it: little work per message, so that the server is what is measured. */
export class GrpcWire {
  readonly #http2: Http2Wire
  readonly #streamHead: Buffer
  readonly #requestHeads: RepeatedHead
  #hasAsked = false
  #stream = 0
  #rest: Buffer = NOTHING

  /** Begins to connect. */
  constructor(origin: string) {
    const url = new URL(origin)
    const start = { ':authority': url.host }
    this.#streamHead = postHeads({ ...start, ':path': '/BiRequestStream/requestBiStream', ...CALL }).first
    this.#requestHeads = postHeads({ ...start, ':path': '/Request/request', ...CALL })
    this.#http2 = new Http2Wire(url)
  }

  /** Sets the connection up. `heard` gets each request of the server, which is acknowledged. */
  async setUp(heard: (message: Heard) => void): Promise<void> {
    const setup = { clientVersion: 'Nacos-Java-Client:v2.5.1', labels: { source: 'sdk', module: 'naming' } }
    const bytes = frameOf('ConnectionSetupRequest', JSON.stringify(setup))
    const listener: CallListener = {
      received: (piece) => this.#received(piece, heard),
      ended: () => undefined,
    }
    this.#stream = this.#http2.call({ head: this.#streamHead, bytes, isWhole: false }, listener)
    while ((await this.ask('HealthCheckRequest', '{}')).type !== 'HealthCheckResponse');
  }

  /** Asks the server; `body` is JSON. Rejects where there is no answer. */
  ask(type: string, body: string): Promise<Heard> {
    return new Promise((resolve, reject) => {
      let bytes: Buffer = NOTHING
      const listener: CallListener = {
        received: (piece) => {
          bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece])
        },
        ended: (problem = 'no message') => {
          if (bytes.length < 5) reject(new Error(`${type} was not answered: ${problem}`))
          else resolve(messageIn(bytes.subarray(5)))
        },
      }
      const head = this.#hasAsked ? this.#requestHeads.next : this.#requestHeads.first
      this.#hasAsked = true
      this.#http2.call({ head, bytes: frameOf(type, body), isWhole: true }, listener)
    })
  }

  close(): void {
    this.#http2.close()
  }

  #received(chunk: Buffer, heard: (message: Heard) => void): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const end = 5 + bytes.readUInt32BE(1)
      const message = messageIn(bytes.subarray(5, end))
      bytes = bytes.subarray(end)
      const requestId = requestIdOf(message.body)
      if (requestId !== undefined) this.#http2.send(this.#stream, acknowledgementOf(requestId))
      heard(message)
    }
    this.#rest = bytes.length === 0 ? NOTHING : Buffer.from(bytes)
  }
}

function acknowledgementOf(requestId: string): Buffer {
  const body = `{"requestId":"${requestId}","resultCode":200,"success":true}`
  return frameOf('NotifySubscriberResponse', body)
}

const REQUEST_ID = Buffer.from('"requestId":"')

/** The id is one of the first keys. */
function requestIdOf(body: Buffer): string | undefined {
  const at = body.indexOf(REQUEST_ID)
  if (at < 0) return undefined
  const start = at + REQUEST_ID.length
  return body.toString('latin1', start, body.indexOf(0x22, start))
}

const METADATA = 2
const BODY = 3
const TYPE = 3
const VALUE = 2

/** A message in its frame: Payload { metadata { type }, body { value } }. */
export function frameOf(type: string, body: string): Buffer {
  const metadata = field(METADATA, field(TYPE, Buffer.from(type)))
  const payload = Buffer.concat([metadata, field(BODY, field(VALUE, Buffer.from(body)))])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

/** The type and the body of a message. */
export function messageIn(payload: Buffer): Heard {
  const parts = fieldsOf(payload)
  const type = fieldsOf(parts.get(METADATA) ?? payload.subarray(0, 0)).get(TYPE)
  const body = fieldsOf(parts.get(BODY) ?? payload.subarray(0, 0)).get(VALUE)
  return { type: type?.toString('latin1') ?? '', body: body ?? payload.subarray(0, 0) }
}

/** The fields of a message, all of which have a length. */
function fieldsOf(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  for (let at = 0; at < bytes.length;) {
    const number = bytes[at++]! >> 3
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    fields.set(number, bytes.subarray(at, at + length))
    at += length
  }
  return fields
}
