import { cpus, loadavg, release, totalmem } from 'node:os'

/** The machine and its load in one line. Figures need both. */
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
