/**
 * Loaded into a measured Node process (`--import`). Over the IPC channel it reports the delay of the event loop since the
 * last report, and how much the old generation grew. It also collects the whole heap on request. The server itself does
 * not know of it.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import { ASK_INSIDE, COLLECT } from './probe-messages.ts'

/** The interval of samples. Reported delays are without this interval. */
const RESOLUTION_MS = 10

/** The report of the probe. */
export interface InsideFigures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** The growth of the old generation, without the effect of its collections. */
  readonly leftBytes: number
}

// Worker threads inherit the options of their process, so they load this file too.
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
    // It measures from the first report on, so that a server that is measured idle stays idle.
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
