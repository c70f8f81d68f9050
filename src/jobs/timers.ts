/** Told when a job throws; the job runs again at its next time. */
export type JobFault = (error: unknown, job: string) => void

/** All jobs share one timer: waking up the thread costs more than most of them do. None runs more often. */
const PULSE_MS = 100

interface Job {
  readonly everyMs: number
  readonly name: string
  readonly run: () => void | Promise<void>
  /** When it runs next, on the clock of `performance.now`. */
  dueMs: number
  running: boolean
}

/** The regular work of the server: each job runs every so often, one run after the other, until all stop. */
export class Timers {
  readonly #jobs: Job[] = []
  readonly #fault: JobFault
  #pulse: NodeJS.Timeout | undefined

  constructor(fault: JobFault) {
    this.#fault = fault
  }

  /** Runs `job` each `everyMs`; a run that is still going on when the next is due stands for it. */
  every(everyMs: number, name: string, job: () => void | Promise<void>): void {
    this.#jobs.push({ everyMs, name, run: job, dueMs: performance.now() + everyMs, running: false })
    this.#pulse ??= setInterval(() => this.#runDue(performance.now()), PULSE_MS)
  }

  stop(): void {
    clearInterval(this.#pulse)
  }

  #runDue(nowMs: number): void {
    for (const job of this.#jobs) {
      // The pulse that is nearest to its time, be it before or after.
      if (job.dueMs > nowMs + PULSE_MS / 2) continue
      job.dueMs = Math.max(job.dueMs + job.everyMs, nowMs)
      if (!job.running) void this.#run(job)
    }
  }

  async #run(job: Job): Promise<void> {
    job.running = true
    try {
      await job.run()
    } catch (error) {
      this.#fault(error, job.name)
    } finally {
      job.running = false
    }
  }
}
