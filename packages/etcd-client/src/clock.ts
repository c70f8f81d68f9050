import { Cancellation } from './cancellation.ts'

/** The clock of the client. Tests have their own. */
export interface Clock {
  /** Milliseconds of a monotonic clock. */
  nowMs(): number
  /** Resolves after that time, or as soon as it is cancelled. */
  sleep(ms: number, cancellation?: Cancellation): Promise<void>
}

/** The clock of the process. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  // Each change sleeps and is woken: the timers of Node with promises would make an error each time.
  sleep: (ms, cancellation) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        forget?.()
        resolve()
      }, ms)
      const forget = cancellation?.onCancel(() => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

/** Whether something is done within this time. */
export async function within(clock: Clock, limitMs: number, done: Promise<unknown>): Promise<boolean> {
  const timer = new Cancellation()
  const isLate = clock.sleep(limitMs, timer).then(() => false)
  const isDone = await Promise.race([done.then(() => true), isLate])
  timer.cancel()
  return isDone
}
