import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Processor time that a process has used with all its threads, in milliseconds (user and system together). */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program is in brackets and may have any characters. The fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000
}

/** Processor time that the running threads of a process have used, in microseconds. */
export function threadsUs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const ofTask = (task: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1_000
  return tasks.reduce((sum, task) => sum + ofTask(task), 0)
}

/** The resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024
}

/** How many files a process may have open. */
export function mostOpenFiles(pid: number): number {
  const limits = readFileSync(`/proc/${pid}/limits`, 'latin1')
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
}
