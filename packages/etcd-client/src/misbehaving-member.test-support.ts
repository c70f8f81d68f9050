import { once } from 'node:events'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { framed } from './grpc-frames.ts'

/** How a member answers a call of one method. */
export type Behaviour = (stream: ServerHttp2Stream) => void

/** A server of HTTP/2 that behaves as a test wants. */
export interface MisbehavingMember {
  readonly endpoint: string
  /** By the path of the method. It may be changed while the server runs. */
  readonly behaviours: Record<string, Behaviour>
  /** All connections so far. */
  readonly sessions: readonly ServerHttp2Session[]
  stop(): Promise<void>
}

const HEAD = { ':status': 200, 'content-type': 'application/grpc' }

/** Starts a member on a free port of the loopback. A method without a behaviour is never answered. */
export async function startMisbehaving(behaviours: Record<string, Behaviour>): Promise<MisbehavingMember> {
  const sessions: ServerHttp2Session[] = []
  // Its answers may wait here.
  const server = createServer({ maxSessionMemory: 1_000 })
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream, { ':path': path }) => {
    stream.on('error', () => {})
    // The request is read first, as etcd does.
    const behave = (): void => behaviours[String(path)]?.(stream)
    if (path === '/etcdserverpb.Watch/Watch') behave()
    else stream.resume().on('end', behave)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviours,
    sessions,
    async stop() {
      for (const session of sessions) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers with these bytes of the body, in one piece each, and with these trailers. */
export function answering(
  chunks: readonly Uint8Array[],
  trailers: Record<string, string> = { 'grpc-status': '0' },
): Behaviour {
  return (stream) => {
    stream.respond(HEAD, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    for (const chunk of chunks) stream.write(chunk)
    stream.end()
  }
}

/** Answers with one message. */
export const message = (bytes: Uint8Array): Behaviour => answering([framed(bytes)])

/** Answers with a head that has the status of gRPC. */
export function trailersOnly(headers: Record<string, string>): Behaviour {
  return (stream) => stream.respond({ ...HEAD, ...headers }, { endStream: true })
}

/** Answers without gRPC. */
export function http(status: number, type: string): Behaviour {
  return (stream) => {
    stream.respond({ ':status': status, 'content-type': type })
    stream.end('<html>')
  }
}

/** Begins an answer and does not end it. */
export const begun: Behaviour = (stream) => stream.respond(HEAD)

/** A port that accepts connections, and sends them this text. */
export async function startTcp(text: string): Promise<{ endpoint: string; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
