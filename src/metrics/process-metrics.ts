import { readdir, readFile } from 'node:fs/promises'
import { counter, gauge, type Metric } from './metric.ts'

type Readings = readonly (readonly [Record<string, string>, number])[]
const UNKNOWN: Readings = []
const STARTED_SECONDS = Math.round(Date.now() / 1_000 - process.uptime())

/** The usual metrics of a process, under the names that dashboards use. */
export function processMetrics(): Metric[] {
  return [...usageMetrics(), ...memoryMetrics()]
}

function usageMetrics(): Metric[] {
  return [
    counter('process_cpu_seconds_total', 'Processor time of this process, in all its threads.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    gauge('process_start_time_seconds', 'Start time of this process, epoch seconds.', () => STARTED_SECONDS),
    gauge('process_open_fds', 'File descriptors in use: each connection is one. Linux only.', openFiles),
    gauge('process_max_fds', 'File descriptors that this process may use. Linux only.', () =>
      mostFiles().then((files) => files ?? UNKNOWN),
    ),
  ]
}

function memoryMetrics(): Metric[] {
  return [
    gauge(
      'process_resident_memory_bytes',
      'Resident memory of this process.',
      () => processMemory().rss ?? UNKNOWN,
    ),
    gauge('nodejs_heap_size_used_bytes', 'JavaScript objects.', () => processMemory().heapUsed ?? UNKNOWN),
    gauge(
      'nodejs_heap_size_total_bytes',
      'Memory that is reserved for JavaScript objects.',
      () => processMemory().heapTotal ?? UNKNOWN,
    ),
    gauge(
      'nodejs_external_memory_bytes',
      'Memory outside the JavaScript heap, with contents and cached answers.',
      () => processMemory().external ?? UNKNOWN,
    ),
  ]
}

async function openFiles(): Promise<Readings | number> {
  return readdir('/proc/self/fd').then(
    (names) => names.length,
    () => UNKNOWN,
  )
}

/** How many files this process may open; undefined if that is unknown or without a limit. */
export async function mostFiles(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const found = /^Max open files +(\d+)/m.exec(limits)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** The memory of this process, in bytes. Empty if unknown: Node.js reads /proc, which a chroot may not have. */
export function processMemory(): Partial<NodeJS.MemoryUsage> {
  try {
    return process.memoryUsage()
  } catch {
    return {}
  }
}
