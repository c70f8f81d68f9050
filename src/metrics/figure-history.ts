import type { FigureLines, ServerFigures } from '../core/cluster/members/server-figures.ts'

/** How often figures are measured. */
export const FIGURES_MS = 20_000
/** An hour of measurements. */
const MOST = 180

/** The measurements of one moment; the first two only grow. */
export interface FigureReading {
  /** Requests that were answered since the start, over HTTP and gRPC. */
  readonly requests: number
  /** Processor time of all threads since the start, ms. */
  readonly processorMs: number
  /** Undefined: the system does not say it. */
  readonly memoryBytes: number | undefined
  /** Open connections of HTTP and gRPC. */
  readonly connections: number
  /** Undefined: it cannot be said now. */
  readonly storeBytes: number | undefined
}

/** The figures of this server for the last hour, in memory: a start begins them again. */
export class FigureHistory {
  readonly #lines: { -readonly [Name in keyof FigureLines]: number[] } = {
    requestsPerSecond: [],
    processorShare: [],
    memoryBytes: [],
    connections: [],
    storeBytes: [],
  }
  #last: { readonly reading: FigureReading; readonly atMs: number } | undefined
  #storeBytes: number | undefined

  /** Adds the measurements at `atMs` (monotonic). The first are only compared with the second. */
  add(reading: FigureReading, atMs: number): void {
    const last = this.#last
    this.#last = { reading, atMs }
    this.#storeBytes = reading.storeBytes ?? this.#storeBytes
    const passedMs = last === undefined ? 0 : atMs - last.atMs
    if (last === undefined || passedMs <= 0) return
    const perSecond = ((reading.requests - last.reading.requests) * 1_000) / passedMs
    this.#put('requestsPerSecond', rounded(perSecond, 10))
    this.#put('processorShare', rounded((reading.processorMs - last.reading.processorMs) / passedMs, 1_000))
    this.#put('memoryBytes', reading.memoryBytes)
    this.#put('connections', reading.connections)
    this.#put('storeBytes', this.#storeBytes)
  }

  read(): ServerFigures {
    return { stepMs: FIGURES_MS, storeBytes: this.#storeBytes, lines: this.#lines }
  }

  /** Unknown values are left out. */
  #put(name: keyof FigureLines, value: number | undefined): void {
    if (value === undefined) return
    const line = this.#lines[name]
    line.push(value)
    if (line.length > MOST) line.shift()
  }
}

/** `parts`: 10 keeps one digit. */
function rounded(value: number, parts: number): number {
  return Math.round(value * parts) / parts
}
