import type { EventEmitter } from 'node:events'

/** An error that the handler of an event has thrown. Must not throw itself. */
type Failed = (error: unknown) => void

/**
 * Listens to an event of Node. What the handler throws is passed to `failed`: otherwise it would end the process, and with it
 * all clients.
 */
export function listen<A extends unknown[]>(
  emitter: EventEmitter,
  event: string,
  handle: (...args: A) => void,
  failed: Failed,
): void {
  emitter.on(event, (...args) => attempt(() => handle(...(args as A)), failed))
}

/** Runs it. What it throws is passed to `failed`. */
export function attempt(run: () => void, failed: Failed): void {
  try {
    run()
  } catch (error) {
    failed(error)
  }
}
