/**
 * Loaded into a measured Node process beside the server (`--import`): tells over the IPC channel how late its event loop
 * ran since it was last asked. The server itself knows nothing of it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** How often the loop is looked at. The delays told are what came on top of that. */
const RESOLUTION_MS = 10

/** What the probe answers: delays in milliseconds. */
export interface LoopDelay {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

// Worker threads are started with the options of their process.
if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS)
  process.on('message', (asked) => {
    if (asked !== 'loop-delay') return
    const answer: LoopDelay = {
      p50Ms: late(delay.percentile(50)),
      p99Ms: late(delay.percentile(99)),
      maxMs: late(delay.max),
    }
    // From the first question on: a server that is measured at rest is left at rest.
    delay.enable()
    delay.reset()
    process.send?.(answer)
  })
  process.channel.unref()
}
