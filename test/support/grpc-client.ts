import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { type Payload, PayloadSchema } from './generated/client_pb.js'
import { faultsOf } from './java-messages.ts'

/** How long a test waits for what must come. */
const WAIT_MS = 30_000

/** The keys of a body. */
export type Body = Record<string, unknown>

/** An answer, or a request of the server. */
export interface Spoken {
  /** Such as `ConfigQueryResponse`. */
  readonly type: string
  readonly body: Body
  /** The body as it was written. */
  readonly text: string
}

/** How a client connects. */
export interface GrpcClientOptions {
  /** Keys of its ConnectionSetupRequest besides the usual ones; false: it does not set its connection up. */
  readonly setup?: Body | false
  /** The address that it takes for its own. */
  readonly clientIp?: string
  /** The headers of all its requests, such as `accessToken`. */
  readonly headers?: Record<string, string>
  /** Its reply to a request of the server; undefined: nothing. By default it acknowledges everything. */
  readonly reply?: (request: Spoken) => Body | undefined
  /** For TLS: `https:` with these options of node:tls. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** The port for gRPC, where it is not 1000 above the HTTP port. */
  readonly grpcPort?: number
  /** Breaks the connection off when it is aborted, also while it is made. */
  readonly signal?: AbortSignal
}

/** A client that is connected, as the libraries of generation 2 and 3 are. */
export interface GrpcClient {
  readonly session: ClientHttp2Session
  /** The stream on which the server asks; undefined without a setup. */
  readonly stream: ClientHttp2Stream | undefined
  /** The id that the server has for the connection. */
  readonly connectionId: string
  /** Asks the server. Rejects where there is no answer. */
  ask(type: string, body?: Body, headers?: Record<string, string>): Promise<Spoken>
  /** The next request of the server of this type that was not taken yet. Rejects after some seconds. */
  next(type: string): Promise<Spoken>
  /** The requests of the server that were not taken yet. */
  readonly waiting: Spoken[]
  /** Sends a message on the stream. */
  send(type: string, body: Body): void
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>
  /** Ends the connection in order. */
  close(): Promise<void>
}

/** By default Node.js 22 and later reset calls when 10 MB wait in the client, as in the tests that send much at once. */
const MOST_MEGABYTES = 100

/** Connects to a server as the libraries do: a check, then the stream with the setup. */
export async function connectGrpc(
  { port }: { readonly port: number },
  options: GrpcClientOptions = {},
): Promise<GrpcClient> {
  const { grpcPort = port + 1_000, tls, signal } = options
  const scheme = tls === undefined ? 'http' : 'https'
  const session = connect(`${scheme}://127.0.0.1:${grpcPort}`, { maxSessionMemory: MOST_MEGABYTES, ...tls })
  const failed = new Promise<never>((_resolve, reject) => session.once('error', reject))
  failed.catch(() => undefined)
  // Errors after the start show in what is waited for.
  session.on('error', () => undefined)
  signal?.addEventListener('abort', () => session.destroy())
  const ended = new Promise<void>((resolve) => void session.on('close', () => resolve()))
  await Promise.race([once(session, 'connect'), failed, ended])
  if (session.destroyed) throw new Error('the connection has ended')
  const calls = new Calls(session, options)
  const { body: checked } = await calls.ask('ServerCheckRequest')
  if (options.setup !== false) await calls.setUp(options.setup ?? {})
  return {
    session,
    stream: calls.stream,
    connectionId: `${checked['connectionId']}`,
    ask: (type, body, headers) => calls.ask(type, body, headers),
    next: (type) => calls.next(type),
    waiting: calls.waiting,
    send: (type, body) => calls.send(type, body),
    ended,
    async close() {
      calls.stream?.end()
      session.close()
      const late = setTimeout(() => session.destroy(), 500)
      await ended
      clearTimeout(late)
    },
  }
}

const USUAL_SETUP: Body = { clientVersion: 'Test-Client:v1.0.0', labels: { source: 'sdk', module: 'naming' } }

class Calls {
  stream: ClientHttp2Stream | undefined
  readonly waiting: Spoken[] = []
  readonly #session: ClientHttp2Session
  readonly #options: GrpcClientOptions
  #wake: (() => void)[] = []
  #lastId = 0

  constructor(session: ClientHttp2Session, options: GrpcClientOptions) {
    this.#session = session
    this.#options = options
  }

  async ask(type: string, body: Body = {}, headers: Record<string, string> = {}): Promise<Spoken> {
    const stream = openCall(this.#session, '/Request/request')
    const sent = { requestId: `${++this.#lastId}`, ...body }
    stream.end(frameOf(type, sent, { ...this.#options.headers, ...headers }))
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    let status = 'none'
    stream.on('trailers', (trailers) => (status = `${trailers['grpc-status']}`))
    stream.on('response', (head) => (status = `${head['grpc-status'] ?? status}`))
    await once(stream, 'close')
    const [spoken] = framesIn(Buffer.concat(chunks)).found
    if (spoken === undefined) throw new Error(`${type} was not answered: grpc-status ${status}`)
    return spoken
  }

  /** The setup has no answer: it is done once a health check says so. */
  async setUp(setup: Body): Promise<void> {
    const stream = openCall(this.#session, '/BiRequestStream/requestBiStream')
    this.stream = stream
    let rest: Buffer = Buffer.alloc(0)
    stream.on('data', (chunk: Buffer) => {
      const { found, left } = framesIn(Buffer.concat([rest, chunk]))
      rest = left
      for (const request of found) this.#received(request)
    })
    this.send('ConnectionSetupRequest', { ...USUAL_SETUP, ...setup })
    const untilMs = Date.now() + WAIT_MS
    while ((await this.ask('HealthCheckRequest')).type !== 'HealthCheckResponse')
      if (Date.now() > untilMs) throw new Error('the connection was not set up')
  }

  send(type: string, body: Body): void {
    const { headers = {}, clientIp = OWN_IP } = this.#options
    this.stream!.write(frameWith({ type, headers, clientIp }, body))
  }

  async next(type: string): Promise<Spoken> {
    const untilMs = Date.now() + WAIT_MS
    for (;;) {
      const index = this.waiting.findIndex((request) => request.type === type)
      if (index >= 0) return this.waiting.splice(index, 1)[0]!
      await this.#woken(untilMs - Date.now(), type)
    }
  }

  #woken(limitMs: number, type: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no ${type} came`)), limitMs)
      this.#wake.push(() => {
        clearTimeout(late)
        resolve()
      })
    })
  }

  #received(request: Spoken): void {
    this.waiting.push(request)
    const { requestId } = request.body
    const { reply = () => ({}) } = this.#options
    const own = requestId === undefined ? undefined : reply(request)
    if (own !== undefined)
      this.send(request.type.replace('Request', 'Response'), {
        requestId,
        resultCode: 200,
        success: true,
        ...own,
      })
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** A stream for a call. */
export function openCall(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => undefined)
  return stream
}

/** A message in the frame of gRPC. */
export function frameOf(type: string, body: Body | string, headers: Record<string, string> = {}): Buffer {
  return frameWith({ type, headers, clientIp: OWN_IP }, body)
}

const OWN_IP = '127.0.0.1'

function frameWith(
  metadata: { type: string; headers: Record<string, string>; clientIp: string },
  body: Body | string,
): Buffer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const payload = create(PayloadSchema, { metadata, body: { value: Buffer.from(text) } })
  return framed(toBinary(PayloadSchema, payload))
}

/** Bytes in the frame of gRPC. */
export function framed(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function framesIn(bytes: Buffer): { found: Spoken[]; left: Buffer } {
  const found: Spoken[] = []
  let left = bytes
  while (left.length >= 5 && left.length >= 5 + left.readUInt32BE(1)) {
    const end = 5 + left.readUInt32BE(1)
    found.push(spokenOf(fromBinary(PayloadSchema, left.subarray(5, end))))
    left = left.subarray(end)
  }
  return { found, left }
}

function spokenOf({ metadata, body }: Payload): Spoken {
  const text = Buffer.from(body?.value ?? []).toString()
  const type = metadata?.type ?? ''
  const faults = faultsOf(type, text)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return { type, body: JSON.parse(text || '{}') as Body, text: text || '{}' }
}
