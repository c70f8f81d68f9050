/** How long a step will take, by how long it took so far. */
export class TimeLeft {
  readonly #nowMs: () => number
  #step = ''
  #beganMs = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** A text such as `items: 120 of 4,000, about 2 min left`. */
  text(step: string, done: number, total: number): string {
    const nowMs = this.#nowMs()
    if (step !== this.#step) {
      this.#step = step
      this.#beganMs = nowMs
    }
    if (total === 0 || done > total) return done === 0 ? step : `${step}: ${grouped(done)}`
    const spentMs = nowMs - this.#beganMs
    const left =
      done > 0 && spentMs > 1_000 ? `, about ${spanOf((spentMs / done) * (total - done))} left` : ''
    return `${step}: ${grouped(done)} of ${grouped(total)}${left}`
  }
}

function spanOf(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}

/** A number with a comma before each three digits. */
export function grouped(number: number): string {
  return number.toLocaleString('en')
}
