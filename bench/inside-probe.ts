/**
 * Loaded into a measured Node process beside the server (`--import`): tells over the IPC channel how late its event loop
 * ran since it was last asked, and how much memory was left to the collections of the whole heap, and collects it when it
 * is told to. The server itself knows nothing of it.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** How often the loop is looked at. The delays told are what came on top of that. */
const RESOLUTION_MS = 10

/** What the probe answers when it is asked. */
export interface InsideFigures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** By how much the old generation grew, whatever was collected there meanwhile. */
  readonly leftBytes: number
}

/** The question that it knows. */
export const ASK_INSIDE = 'inside'
/** What it is told to do: collect the whole heap. */
export const COLLECT = 'collect'

// Worker threads are started with the options of their process.
if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS)
  let oldBytes = oldGenerationBytes()
  let leftBytes = 0
  const look = (): void => {
    const nowBytes = oldGenerationBytes()
    leftBytes += Math.max(0, nowBytes - oldBytes)
    oldBytes = nowBytes
  }
  const collections = new PerformanceObserver(look)
  process.on('message', (asked) => {
    if (asked === COLLECT) {
      collectAll()
      process.send?.({})
    }
    if (asked !== ASK_INSIDE) return
    look()
    const answer: InsideFigures = {
      p50Ms: late(delay.percentile(50)),
      p99Ms: late(delay.percentile(99)),
      maxMs: late(delay.max),
      leftBytes,
    }
    // From the first question on: a server that is measured at rest is left at rest.
    delay.enable()
    delay.reset()
    collections.observe({ entryTypes: ['gc'] })
    leftBytes = 0
    process.send?.(answer)
  })
  process.channel.unref()
}

function collectAll(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

function oldGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size
}
