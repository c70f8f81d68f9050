import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'

/** A message of a server. Its body is read only where a load needs it. */
export interface Heard {
  /** JSON. */
  readonly body: Buffer
  readonly type: string
}

const CALL = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

/** The client side of gRPC as loads need it: little work per message, so that the server is what is measured. */
export class GrpcWire {
  readonly #session: ClientHttp2Session
  readonly #connected: Promise<unknown>
  #stream: ClientHttp2Stream | undefined
  #rest: Buffer = Buffer.alloc(0)

  constructor(origin: string) {
    this.#session = connect(origin)
    this.#session.on('error', () => undefined)
    this.#connected = once(this.#session, 'connect')
    this.#connected.catch(() => undefined)
  }

  /** Sets the connection up. `heard` gets each request of the server, which is acknowledged. */
  async setUp(heard: (message: Heard) => void): Promise<void> {
    await this.#connected
    const stream = this.#session.request({ ...CALL, ':path': '/BiRequestStream/requestBiStream' })
    stream.on('error', () => undefined)
    stream.on('data', (chunk: Buffer) => this.#received(chunk, heard))
    this.#stream = stream
    const setup = { clientVersion: 'Nacos-Java-Client:v2.5.1', labels: { source: 'sdk', module: 'naming' } }
    stream.write(frameOf('ConnectionSetupRequest', JSON.stringify(setup)))
    while ((await this.ask('HealthCheckRequest', '{}')).type !== 'HealthCheckResponse');
  }

  /** Asks the server; `body` is JSON. Rejects where there is no answer. */
  ask(type: string, body: string): Promise<Heard> {
    const call = this.#session.request({ ...CALL, ':path': '/Request/request' })
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      call.on('data', (chunk: Buffer) => chunks.push(chunk))
      call.on('error', reject)
      call.on('close', () => {
        const bytes = Buffer.concat(chunks)
        if (bytes.length < 5) reject(new Error(`${type} was not answered`))
        else resolve(messageIn(bytes.subarray(5)))
      })
      call.end(frameOf(type, body))
    })
  }

  close(): void {
    this.#session.destroy()
  }

  #received(chunk: Buffer, heard: (message: Heard) => void): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const end = 5 + bytes.readUInt32BE(1)
      const message = messageIn(bytes.subarray(5, end))
      bytes = bytes.subarray(end)
      const requestId = requestIdOf(message.body)
      if (requestId !== undefined)
        this.#stream?.write(
          frameOf('NotifySubscriberResponse', `{"requestId":"${requestId}","resultCode":200,"success":true}`),
        )
      heard(message)
    }
    this.#rest = Buffer.from(bytes)
  }
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
function frameOf(type: string, body: string): Buffer {
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

function messageIn(payload: Buffer): Heard {
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
