import { BOUNDARIES, type Boundary } from '../core/unexpected.ts'
import { counterBy, type Metric } from './metric.ts'
import type { WatchLog } from './watch-log.ts'

/** Equal faults are logged once in this time. */
const LOG_EVERY_MS = 60_000
/** More different faults than this within a minute share one line: requests of clients may make stacks differ. */
const MOST_KINDS = 100
const OTHER = 'other'

const TEXT: Readonly<Record<Boundary, string>> = {
  listener: 'a listening socket has failed and still listens',
  connection: 'a connection was ended by a fault of this server',
  request: 'a request failed by a fault of this server',
  probe: 'a probe was ended by a fault of this server',
  push: 'a push was given up by a fault of this server',
  job: 'a regular job failed',
}

/** Equal faults since the last line about them. */
interface FaultKind {
  readonly boundary: Boundary
  readonly error: unknown
  readonly loggedMs: number
  suppressed: number
}

/** Where faults are logged, and the clock of that. */
export interface FaultsOptions {
  readonly log: Pick<WatchLog, 'error'>
  readonly monotonicMs: () => number
}

/** Counts the faults that the boundaries of the server have caught, and logs equal ones once a minute (decision 0045). */
export class Faults {
  readonly #options: FaultsOptions
  readonly #counts = new Map<Boundary, number>(BOUNDARIES.map((boundary) => [boundary, 0]))
  readonly #kinds = new Map<string, FaultKind>()

  constructor(options: FaultsOptions) {
    this.#options = options
  }

  /** The faults since the start by boundary; boundaries without faults are left out. */
  counts(): Partial<Record<Boundary, number>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0))
  }

  /** See `FaultSink.caught`. */
  readonly caught = (boundary: Boundary, error: unknown, facts: object = {}): void => {
    this.#counts.set(boundary, (this.#counts.get(boundary) ?? 0) + 1)
    const place = `${boundary} ${placeOf(error)}`
    const name = this.#kinds.has(place) || this.#kinds.size < MOST_KINDS ? place : OTHER
    const known = this.#kinds.get(name)
    if (known !== undefined) {
      known.suppressed++
      return
    }
    this.#kinds.set(name, { boundary, error, loggedMs: this.#options.monotonicMs(), suppressed: 0 })
    this.#options.log.error({ ...facts, boundary, err: error }, TEXT[boundary])
  }

  /** Logs how many equal faults followed a logged one, a minute after it. Call it about once a second. */
  tick(): void {
    const nowMs = this.#options.monotonicMs()
    for (const [name, { boundary, error, loggedMs, suppressed }] of this.#kinds) {
      if (nowMs - loggedMs < LOG_EVERY_MS) continue
      this.#kinds.delete(name)
      if (suppressed === 0) continue
      this.#kinds.set(name, { boundary, error, loggedMs: nowMs, suppressed: 0 })
      this.#options.log.error({ boundary, suppressed, err: error }, TEXT[boundary])
    }
  }

  metrics(): Metric[] {
    return [
      counterBy(
        'waypost_faults_total',
        'Faults of the server that were caught, by what they have ended: one connection, request, probe, push or run of a job.',
        { label: 'boundary', read: () => [...this.#counts] },
      ),
    ]
  }
}

/** The place in the code of an error. The message is left out: it may have text from a client. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return `${error.name}\n${frames.join('\n')}`
}
