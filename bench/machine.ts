import { cpus, loadavg, release, totalmem } from 'node:os'

/** The machine in a line, and how busy it is: figures are worth little without. */
export function machineLine(): string {
  const cores = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const model = cores[0]?.model.trim() ?? 'unknown processor'
  return `${cores.length} cores (${model}), ${memory} GB, Linux ${release()}, Node ${process.versions.node}, ${loadLine()}`
}

/** The load average of the last minute. */
export function loadLine(): string {
  return `load average ${loadavg()[0]!.toFixed(2)}`
}
