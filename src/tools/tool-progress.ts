const MS_BETWEEN_LINES = 5_000
const MS_BETWEEN_REDRAWS = 100

/** Says on standard error how far a tool has come: in one line of a terminal, or else a line every few seconds. */
export class ToolProgress {
  readonly #isTerminal = process.stderr.isTTY
  #lastMs = performance.now()
  #isDrawn = false

  /** Takes the newest; `total` is 0 where nobody knows. */
  readonly on = (step: string, done: number, total: number): void => {
    const nowMs = performance.now()
    const pauseMs = this.#isTerminal ? MS_BETWEEN_REDRAWS : MS_BETWEEN_LINES
    if (nowMs - this.#lastMs < pauseMs) return
    this.#lastMs = nowMs
    const share = total > 0 ? ` ${Math.min(100, Math.floor((done / total) * 100))} %` : ''
    const text = `waypost: ${step}${share}`
    this.#isDrawn = true
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${text}` : `${text}\n`)
  }

  /** Takes an unfinished line away. */
  end(): void {
    if (this.#isTerminal && this.#isDrawn) process.stderr.write('\r\x1b[K')
    this.#isDrawn = false
  }
}
