const MIN_INTERVAL_MS = 1_000

/** Tells a person how far long work is: on one line of a terminal, or a line a second where the output is none. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  #lastMs = -Infinity
  #isOpen = false

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  /** Shows this unless something was shown just now. */
  show(text: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#lastMs < MIN_INTERVAL_MS) return
    this.#lastMs = nowMs
    this.#isOpen = this.#stream.isTTY
    this.#stream.write(this.#isOpen ? `\r\u001b[K${text}` : `${text}\n`)
  }

  /** Ends the line, if one is begun. */
  end(): void {
    if (this.#isOpen) this.#stream.write('\r\u001b[K')
    this.#isOpen = false
  }
}
