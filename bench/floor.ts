/**
 * The floor: a plain node:http server with the least work that is possible. It parses its input and sends prepared bytes,
 * with the headers of the server that it is compared with. It checks and stores nothing. It answers all held polls at
 * once. It runs in its own process; a message brings its answers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GRPC_OFFSET } from './grpc-clients.ts'
import { GrpcFloor, type GrpcSetup } from './grpc-floor.ts'
import './inside-probe.ts'

/** An answer that was captured from another server. */
export interface ReadyAnswer {
  readonly status: number
  /** Name, value, name, value, without the headers that Node adds. */
  readonly headers: readonly string[]
  /** Base64. */
  readonly body: string
}

/** The options of the floor. */
export interface FloorSetup {
  readonly keepAliveTimeoutMs: number
  /** By method and path: `GET /svc/v1/cs/configs`. */
  readonly answers: Readonly<Record<string, ReadyAnswer>>
  /** The path of held polls, and the request whose success answers them all. */
  readonly pollPath: string
  readonly wakes: string
  /** What it answers at the port 1000 above. */
  readonly grpc: GrpcSetup
}

// The probe, which is loaded into every measured server, unreferences the channel. The floor waits for messages on it.
process.channel?.ref()
process.once('message', (setup: FloorSetup) => start(setup))

function start({ keepAliveTimeoutMs, answers, pollPath, wakes, grpc: grpcSetup }: FloorSetup): void {
  const grpc = new GrpcFloor(grpcSetup)
  const ready = new Map(Object.entries(answers).map(([key, answer]) => [key, withBytes(answer)]))
  const held: ServerResponse[] = []
  const reply = (request: IncomingMessage, response: ServerResponse, form: string): void => {
    const url = request.url ?? ''
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const { content } = parse(mark < 0 ? form : url.slice(mark + 1))
    if (path === pollPath && request.headers['long-pulling-timeout'] !== undefined) {
      held.push(response)
      return
    }
    const asked = `${request.method} ${path}`
    const known = ready.get(asked)
    if (known === undefined) response.writeHead(404).end()
    else send(response, known)
    if (asked === wakes) setImmediate(wake)
    if (grpc.size > 0) setImmediate(() => grpc.push(asked, content))
  }
  const wake = (): void => {
    const changed = ready.get(`POST ${pollPath}`)!
    for (const response of held.splice(0)) send(response, changed)
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.headers['content-length'] === undefined) return reply(request, response, '')
    let form = ''
    request.on('data', (chunk: Buffer) => (form += chunk.toString('latin1')))
    request.on('end', () => reply(request, response, form))
  }
  const listen = (): void => {
    const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, answer)
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
      const { port } = server.address() as AddressInfo
      void grpc.listen(port + GRPC_OFFSET).then((isFree) => {
        if (isFree) process.send?.({ port })
        else server.close(listen)
      })
    })
  }
  listen()
}

interface Ready {
  readonly status: number
  readonly headers: string[]
  readonly bytes: Buffer
}

function withBytes({ status, headers, body }: ReadyAnswer): Ready {
  return { status, headers: [...headers], bytes: Buffer.from(body, 'base64') }
}

function send(response: ServerResponse, { status, headers, bytes }: Ready): void {
  response.writeHead(status, headers)
  response.end(bytes)
}

/** Decodes names and values and parses a beat, as every server of this interface must. */
function parse(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0) continue
    const value = pair.slice(equals + 1)
    values[pair.slice(0, equals)] = value.includes('%') ? decodeURIComponent(value) : value
  }
  if (values['beat'] !== undefined) JSON.parse(values['beat'])
  return values
}
