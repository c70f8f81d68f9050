import type { CallersJob } from '../callers.ts'
import { forkModule } from '../child.ts'
import type { LoadResult } from '../jobs.ts'
import { modulePath } from '../project.ts'
import { type Bench, type Beside, type Figures, latencies } from '../scenario.ts'
import { directoryFor } from '../target.ts'

/** Publishes without a server, by this number of callers: to the store, and to plain SQLite. */
export function callersAlone(callers: number): Beside[] {
  return [
    { name: 'store alone', measure: (bench) => alone('store-floor', bench, callers) },
    { name: 'plain SQLite', measure: (bench) => alone('plain-sqlite', bench, callers) },
  ]
}

/** Publishes by callers in a process of this module. */
export async function alone(
  module: 'store-floor' | 'plain-sqlite',
  { seconds }: Pick<Bench, 'seconds'>,
  callers: number,
): Promise<Figures> {
  const data = directoryFor()
  const child = forkModule(modulePath(module))
  try {
    const job: CallersJob = { directory: data.path, callers, count: 1_000, seconds }
    const result = (await child.ask(job)) as LoadResult
    const { usedMs = 0 } = result
    return {
      'rate /s': (result.answered / result.elapsedMs) * 1_000,
      ...latencies(result),
      'cpu µs': (usedMs * 1_000) / result.answered,
      'core %': (usedMs / result.elapsedMs) * 100,
    }
  } finally {
    await child.stop()
    data.remove()
  }
}
