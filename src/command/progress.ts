import { printableWord } from './terminal-text.ts'

const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 5_000

/** Shows the progress of a command on standard error: on one line of a terminal, or as a line every few seconds. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  #lastMs = performance.now()
  #isDrawn = false

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  /** Shows a text, unless a text was shown just now. */
  show(words: string): void {
    const nowMs = performance.now()
    const { isTTY } = this.#stream
    if (nowMs - this.#lastMs < (isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) return
    this.#lastMs = nowMs
    this.#isDrawn = isTTY
    const text = printableWord(words)
    this.#stream.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`)
  }

  /** Shows a step and its share of the whole; `total` is 0 if it is unknown. */
  readonly onStep = (step: string, done: number, total: number): void => {
    const share = total > 0 ? ` ${Math.min(100, Math.floor((done / total) * 100))} %` : ''
    this.show(`waypost: ${step}${share}`)
  }

  /** Removes the line from the terminal. */
  end(): void {
    if (this.#isDrawn) this.#stream.write('\r\u001b[K')
    this.#isDrawn = false
  }
}
