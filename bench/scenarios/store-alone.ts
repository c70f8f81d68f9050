import { forkModule } from '../child.ts'
import type { LoadResult } from '../jobs.ts'
import { processorMs } from '../process-usage.ts'
import { modulePath } from '../project.ts'
import { type Bench, type Figures, latencies } from '../scenario.ts'
import type { StoreFloorJob } from '../store-floor.ts'
import { directoryFor } from '../target.ts'

/** The store with so many callers and no server around it: the floor of a publish. */
export async function storeAlone({ dist, seconds }: Bench, callers: number): Promise<Figures> {
  const data = directoryFor()
  const child = forkModule(modulePath('store-floor'))
  try {
    const job: StoreFloorJob = { directory: data.path, dist, callers, count: 1_000, seconds }
    const began = processorMs(child.pid)
    const result = (await child.ask(job)) as LoadResult
    const usedMs = processorMs(child.pid) - began
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
