import { readdirSync, readFileSync } from 'node:fs'

/** Whether the system says how long each thread ran. */
export function hasThreadTimes(): boolean {
  try {
    return processorMs(process.pid) > 0
  } catch {
    return false
  }
}

/** Processor time of all living threads of a process so far, in milliseconds. Linux counts it in nanoseconds. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  )
  return times.reduce((sum, each) => sum + each, 0) / 1e6
}
