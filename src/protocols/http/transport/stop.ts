import type { Server as Listener } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connections } from './connections.ts'
import type { ExchangeContext } from './exchange-context.ts'

const CHECK_MS = 20

/**
 * How many checks an idle connection is kept. A client may just be sending its next request on it, which is answered
 * then instead of being reset.
 */
const IDLE_CHECKS = 12

/** How long clients that connect all the time may keep the listener open. */
const MOST_ACCEPTING_MS = 1_000

/**
 * Stops listening; new connections are refused from then on. Connections that wait to be accepted are let in first,
 * because closing the listener resets them. Resolves when the listener is closed; open connections stay.
 */
export async function stopListening(listener: Listener, connections: Connections): Promise<void> {
  const endMs = performance.now() + MOST_ACCEPTING_MS
  let accepted = NaN
  let quietTurns = 0
  // Node accepts a few in each turn of the event loop: two turns without a new one say that none waits.
  while (quietTurns < 2 && performance.now() < endMs) {
    await nextTurn()
    quietTurns = connections.admission.accepted === accepted ? quietTurns + 1 : 0
    accepted = connections.admission.accepted
  }
  listener.close()
}

/** The parts to stop. */
export interface Stopping {
  readonly listener: Listener
  readonly connections: Connections
  readonly context: ExchangeContext
}

/**
 * Refuses requests that begin from now on, and ends connections with their last answer. Resolves when all are closed:
 * idle ones after a moment, the others after `graceMs` at the latest.
 */
export async function stop({ listener, connections, context }: Stopping, graceMs: number): Promise<void> {
  context.stopping = true
  const force = setTimeout(() => connections.destroyAll(), graceMs)
  let checks = 0
  const check = setInterval(() => ++checks > IDLE_CHECKS && connections.destroyIdle(), CHECK_MS)
  // Called a second time, `close` only waits.
  await new Promise<unknown>((resolve) => listener.close(resolve))
  clearInterval(check)
  clearTimeout(force)
}
