import { guarded, nothing } from '../core/unexpected.ts'

/** Called when a job throws. The job runs again at its next time. */
export type JobFault = (error: unknown, job: string) => void

/** Called at each pulse: by how many milliseconds it is late, because the thread was busy. */
export type PulseWatch = (lateMs: number) => void

/** All jobs share one timer, because waking the thread costs more than most jobs. No job runs more often. */
const PULSE_MS = 100

interface Job {
  readonly everyMs: number
  readonly name: string
  readonly run: () => void | Promise<void>
  /** The time of the next run, on the clock of `performance.now`. */
  dueMs: number
  running: boolean
}

/** The regular jobs of the server. Each runs at its interval, never twice at once, until all are stopped. */
export class Timers {
  readonly #jobs: Job[] = []
  readonly #fault: JobFault
  readonly #watch: PulseWatch
  #pulse: NodeJS.Timeout | undefined
  #pulseMs = 0

  constructor(fault: JobFault, watch: PulseWatch = () => {}) {
    this.#fault = fault
    this.#watch = watch
  }

  /** Runs `job` every `everyMs`. If a run has not ended when the next is due, the next is skipped. */
  every(everyMs: number, name: string, job: () => void | Promise<void>): void {
    const nowMs = performance.now()
    this.#jobs.push({ everyMs, name, run: job, dueMs: nowMs + everyMs, running: false })
    if (this.#pulse !== undefined) return
    this.#pulseMs = nowMs
    this.#pulse = setInterval(
      guarded('job', nothing, () => this.#beat(performance.now())),
      PULSE_MS,
    )
  }

  stop(): void {
    clearInterval(this.#pulse)
  }

  #beat(nowMs: number): void {
    // A timer of Node counts in whole milliseconds, so a pulse may come a little early.
    this.#watch(Math.max(0, nowMs - this.#pulseMs - PULSE_MS))
    this.#pulseMs = nowMs
    this.#runDue(nowMs)
  }

  #runDue(nowMs: number): void {
    for (const job of this.#jobs) {
      // A job runs at the pulse nearest to its time, before or after it.
      if (job.dueMs > nowMs + PULSE_MS / 2) continue
      job.dueMs = Math.max(job.dueMs + job.everyMs, nowMs)
      if (!job.running) this.#run(job)
    }
  }

  /** Most jobs end at once, and most pulses find nothing to do: these make no promise. */
  #run(job: Job): void {
    try {
      const ending = job.run()
      if (ending !== undefined) void this.#await(job, ending)
    } catch (error) {
      this.#fault(error, job.name)
    }
  }

  async #await(job: Job, ending: Promise<void>): Promise<void> {
    job.running = true
    try {
      await ending
    } catch (error) {
      this.#fault(error, job.name)
    } finally {
      job.running = false
    }
  }
}
