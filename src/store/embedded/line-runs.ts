import type { Line } from './instance-lines.ts'

/** Lines to be put one after another. Those that stand one after another already are copied together. */
export class LineRuns {
  readonly #runs: { readonly bytes: Buffer; readonly start: number; end: number }[] = []
  /** How many bytes they have. */
  length = 0

  add({ bytes, start, end }: Line): void {
    const last = this.#runs.at(-1)
    if (last?.bytes === bytes && last.end === start) last.end = end
    else this.#runs.push({ bytes, start, end })
    this.length += end - start
  }

  /** All of them, as bytes of their own. */
  joined(): Buffer {
    return Buffer.concat(
      this.#runs.map(({ bytes, start, end }) => bytes.subarray(start, end)),
      this.length,
    )
  }
}
