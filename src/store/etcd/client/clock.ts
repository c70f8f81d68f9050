import { setTimeout as sleep } from 'node:timers/promises'

/** The time that the client goes by. Tests have one of their own. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  nowMs(): number
  /** Resolves after that time, or as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock of the process. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
}
