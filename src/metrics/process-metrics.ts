import { readdir, readFile } from 'node:fs/promises'
import type { Metric } from './metric.ts'
import { processMemory } from './process-memory.ts'

type Readings = readonly (readonly [Record<string, string>, number])[]
const UNKNOWN: Readings = []
const STARTED_SECONDS = Math.round(Date.now() / 1_000 - process.uptime())

/** The usual metrics of a process, under the names that dashboards use. */
export function processMetrics(): Metric[] {
  return [...usageMetrics(), ...memoryMetrics()]
}

function usageMetrics(): Metric[] {
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time of this process, in all its threads.',
      type: 'counter',
      read: () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    },
    {
      name: 'process_start_time_seconds',
      help: 'Start time of this process, epoch seconds.',
      type: 'gauge',
      read: () => STARTED_SECONDS,
    },
    {
      name: 'process_open_fds',
      help: 'File descriptors in use: each connection is one. Linux only.',
      type: 'gauge',
      read: openFiles,
    },
    {
      name: 'process_max_fds',
      help: 'File descriptors that this process may use. Linux only.',
      type: 'gauge',
      read: mostFiles,
    },
  ]
}

function memoryMetrics(): Metric[] {
  return [
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of this process.',
      type: 'gauge',
      read: () => processMemory().rss ?? UNKNOWN,
    },
    {
      name: 'nodejs_heap_size_used_bytes',
      help: 'JavaScript objects.',
      type: 'gauge',
      read: () => processMemory().heapUsed ?? UNKNOWN,
    },
    {
      name: 'nodejs_heap_size_total_bytes',
      help: 'Memory that is reserved for JavaScript objects.',
      type: 'gauge',
      read: () => processMemory().heapTotal ?? UNKNOWN,
    },
    {
      name: 'nodejs_external_memory_bytes',
      help: 'Memory outside the JavaScript heap, with contents and cached answers.',
      type: 'gauge',
      read: () => processMemory().external ?? UNKNOWN,
    },
  ]
}

async function openFiles(): Promise<Readings | number> {
  return readdir('/proc/self/fd').then(
    (names) => names.length,
    () => UNKNOWN,
  )
}

async function mostFiles(): Promise<Readings | number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const found = /^Max open files +(\d+)/m.exec(limits)?.[1]
  return found === undefined ? UNKNOWN : Number(found)
}
