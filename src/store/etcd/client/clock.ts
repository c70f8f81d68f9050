/** The clock of the client. Tests have their own. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  nowMs(): number
  /** Resolves after that time, or as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock of the process. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  // Each change sleeps and is woken: the timers of Node with promises would make an error each time.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, signal?.aborted === true ? 0 : ms)
      signal?.addEventListener('abort', wake)
    }),
}

/** Whether something is done within this time. */
export async function within(clock: Clock, limitMs: number, done: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController()
  const isLate = clock.sleep(limitMs, timer.signal).then(() => false)
  const isDone = await Promise.race([done.then(() => true), isLate])
  // The ordinary reason is an error with a stack.
  timer.abort('done')
  return isDone
}
