/** Told when a job throws; the job runs again at its next time. */
export type JobFault = (error: unknown, job: string) => void

/** The regular work of the server: each job runs every so often, one run after the other, until all stop. */
export class Timers {
  readonly #timers: NodeJS.Timeout[] = []
  readonly #fault: JobFault

  constructor(fault: JobFault) {
    this.#fault = fault
  }

  /** Runs `job` each `everyMs`; a run that is still going on when the next is due stands for it. */
  every(everyMs: number, name: string, job: () => void | Promise<void>): void {
    let running = false
    const run = async (): Promise<void> => {
      if (running) return
      running = true
      try {
        await job()
      } catch (error) {
        this.#fault(error, name)
      } finally {
        running = false
      }
    }
    this.#timers.push(setInterval(() => void run(), everyMs))
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers.length = 0
  }
}
