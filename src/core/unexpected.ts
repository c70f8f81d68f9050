/** The part of the server that a fault may end, and nothing else (decision 0045). */
export type Boundary = 'listener' | 'connection' | 'request' | 'probe' | 'push' | 'job'

/** Every boundary, for counts. */
export const BOUNDARIES: readonly Boundary[] = ['listener', 'connection', 'request', 'probe', 'push', 'job']

/** Takes errors that were thrown where nothing should throw. It must not throw itself. */
export interface FaultSink {
  /** Logs and counts a fault. Its boundary has ended, or ends now. */
  caught(boundary: Boundary, error: unknown, facts: object): void
  /** Ends the process in order: nobody knows any more whether memory is right. */
  fatal(error: unknown, text: string): void
}

/** One sink for the process, because uncaught errors belong to the process too. */
let sink: FaultSink | undefined

/** From now on faults go to this sink. Without one (in tests of a part) they are thrown. */
export function reportFaultsTo(faults: FaultSink | undefined): void {
  sink = faults
}

/** Reports a fault of this boundary, which the caller has ended or ends now. */
export function caught(boundary: Boundary, error: unknown, facts: object = {}): void {
  if (sink === undefined) throw error
  sink.caught(boundary, error, facts)
}

/** Reports a fault after which the process must end. Returns, so that the caller can throw. */
export function fatal(error: unknown, text: string): void {
  sink?.fatal(error, text)
}

/** Runs a piece of work of this boundary. An error is reported and ends the boundary. */
export function contained(boundary: Boundary, end: () => void, run: () => void): void {
  try {
    run()
  } catch (error) {
    failed(boundary, end, error)
  }
}

/** The same for a callback: an event, a timer. It passes on its `this`, such as the emitter. */
export function guarded<Args extends unknown[], This = void>(
  boundary: Boundary,
  end: () => void,
  run: (this: This, ...args: Args) => void,
): (this: This, ...args: Args) => void {
  return function (...args) {
    try {
      run.call(this, ...args)
    } catch (error) {
      failed(boundary, end, error)
    }
  }
}

/** The same for work that nobody waits for. */
export function unawaited(boundary: Boundary, end: () => void, work: Promise<unknown>): void {
  work.catch((error: unknown) => failed(boundary, end, error))
}

/** For a boundary that has nothing to end: only this call of it is over. */
export const nothing = (): void => undefined

/** Reports a caught error and ends its boundary, for places where many calls a second would need a callback each. */
export function failed(boundary: Boundary, end: () => void, error: unknown): void {
  caught(boundary, error)
  try {
    end()
  } catch (another) {
    caught(boundary, another)
  }
}
