import type { EventEmitter } from 'node:events'

/** An error that the handler of an event has thrown. Must not throw itself. */
type Failed = (error: unknown) => void

/**
 * Listens to events of Node, by their names. What a handler throws is passed to `failed`: otherwise it would end the process, and with it
 * all clients.
 */
export function listen<A extends unknown[]>(
  emitter: EventEmitter,
  handlers: Readonly<Record<string, (...args: A) => unknown>>,
  failed: Failed,
): void {
  for (const [event, handle] of Object.entries(handlers))
    emitter.on(event, (...args) => attempt(() => handle(...(args as A)), failed))
}

/** Runs it. What it throws is passed to `failed`. */
export function attempt(run: () => unknown, failed: Failed): void {
  try {
    run()
  } catch (error) {
    failed(error)
  }
}
