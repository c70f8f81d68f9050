import { Histogram } from './histogram.ts'
import type { LoadResult } from './jobs.ts'

/** A load without a server: this number of callers, on `count` items. */
export interface CallersJob {
  readonly directory: string
  readonly callers: number
  readonly count: number
  readonly seconds: number
}

/**
 * Callers in a closed loop. All waiting publishes are written together, then each caller sends the next one. `make` creates
 * the publish of this number, and its time counts as work of the caller.
 */
export async function driveCallers<T>(
  { callers, seconds }: CallersJob,
  make: (number: number) => T,
  commit: (batch: T[]) => Promise<void>,
): Promise<LoadResult> {
  const histogram = new Histogram()
  let version = 0
  let waiting: { asked: T; sinceMs: number }[] = []
  const ask = (): void => void waiting.push({ asked: make(version++), sinceMs: performance.now() })
  for (let caller = 0; caller < callers; caller++) ask()
  const before = process.cpuUsage()
  const began = performance.now()
  while (performance.now() - began < seconds * 1_000) {
    const batch = waiting
    waiting = []
    await commit(batch.map(({ asked }) => asked))
    const now = performance.now()
    for (const { sinceMs } of batch) {
      histogram.add(now - sinceMs)
      ask()
    }
  }
  const elapsedMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  const usedMs = (user + system) / 1_000
  return { counts: histogram.counts(), answered: histogram.total, failed: 0, elapsedMs, usedMs }
}

/** Runs the only job of this process. */
export function answerJob(run: (job: CallersJob) => Promise<LoadResult>): void {
  process.once('message', (job: CallersJob) => {
    run(job).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ problem: String(error) }),
    )
  })
}
