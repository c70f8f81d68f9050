import type { Socket } from 'node:net'

const OPEN = Symbol('requests of this connection that are not answered yet')

/** A connection with the number of its requests that are not answered yet. */
interface CountedSocket extends Socket {
  [OPEN]?: number
}

/** Whether ending the connection now would cost anyone an answer. */
export function isIdle(socket: Socket): boolean {
  return ((socket as CountedSocket)[OPEN] ?? 0) === 0 && socket.writableLength === 0
}

/** Notes one request more (1) or one fewer (-1) of a connection. */
export function countRequest(socket: CountedSocket, difference: 1 | -1): void {
  socket[OPEN] = (socket[OPEN] ?? 0) + difference
}
