import type { Server as Listener } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connections } from './connections.ts'
import type { ExchangeContext } from './exchange-context.ts'

/** What is stopped. */
export interface Stopping {
  readonly listener: Listener
  readonly connections: Connections
  readonly context: ExchangeContext
}

const CHECK_MS = 20

/**
 * How many checks an idle connection is kept. A client may just be sending its next request on it, which is answered
 * then instead of being reset.
 */
const IDLE_CHECKS = 5

/** How many turns the connections that the system has accepted already may take to be accepted here. */
const MOST_TURNS = 4_096

/**
 * Stops listening; from then on each answer ends its connection, and requests are refused. Resolves when all connections
 * are closed: idle ones after a moment, all others after `graceMs`.
 */
export async function stop({ listener, connections, context }: Stopping, graceMs: number): Promise<void> {
  context.stopping = true
  const force = setTimeout(endAll, graceMs, connections)
  await acceptWaiting(connections)
  let checks = 0
  const check = setInterval(() => ++checks > IDLE_CHECKS && endIdle(connections), CHECK_MS)
  await new Promise<unknown>((resolve) => listener.close(resolve))
  clearInterval(check)
  clearTimeout(force)
}

/**
 * Lets the connections through that wait to be accepted: closing the listener resets them. Node accepts a few in
 * each turn of the event loop, so two turns without a new one say that none waits.
 */
async function acceptWaiting(connections: Connections): Promise<void> {
  let accepted = NaN
  let quietTurns = 0
  for (let turn = 0; turn < MOST_TURNS && quietTurns < 2; turn++) {
    await nextTurn()
    quietTurns = connections.accepted === accepted ? quietTurns + 1 : 0
    accepted = connections.accepted
  }
}

function endIdle(connections: Connections): void {
  for (const connection of connections) if (connection.isIdle) connection.socket.destroy()
}

function endAll(connections: Connections): void {
  for (const { socket } of connections) socket.destroy()
}
