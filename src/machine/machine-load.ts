import { cpus, freemem, loadavg, totalmem } from 'node:os'

/** The load of the machine: `cpu` and `mem` from 0 to 1, and `load`, the load average of the last minute. */
export interface MachineReading {
  readonly cpu: number
  readonly load: number
  readonly mem: number
}

interface CpuTimes {
  readonly busy: number
  readonly all: number
}

/** Measures the load of the machine. Processor use is measured between the last two calls of `sample`. */
export class MachineLoad {
  #last = cpuTimes()
  #cpu = 0

  /** Call it every few seconds. */
  sample(): void {
    const now = cpuTimes()
    const all = now.all - this.#last.all
    if (all > 0) this.#cpu = clampShare((now.busy - this.#last.busy) / all)
    this.#last = now
  }

  read(): MachineReading {
    return { cpu: this.#cpu, load: loadavg()[0] ?? 0, mem: clampShare(1 - freemem() / totalmem()) }
  }
}

function cpuTimes(): CpuTimes {
  let busy = 0
  let all = 0
  for (const { times } of cpus()) {
    const spent = times.user + times.nice + times.sys + times.irq
    busy += spent
    all += spent + times.idle
  }
  return { busy, all }
}

function clampShare(value: number): number {
  return Math.min(Math.max(value, 0), 1)
}
