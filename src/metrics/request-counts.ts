import { Histogram, SECONDS } from './histogram.ts'
import type { Labels, Metric } from './metric.ts'

/** What is known of a route here. */
export interface RouteName {
  readonly method: string
  readonly path: string
}

const CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx']
/** What no route has is counted together: its path and method are the client's words. */
const UNKNOWN: Labels = { method: 'any', route: 'unknown', dialect: 'none' }

/** The requests of one route: how many were answered by status class, and how long that took. */
class RouteCounts {
  readonly labels: Labels
  readonly byClass = new Float64Array(CLASSES.length)
  readonly latency = new Histogram(SECONDS)

  constructor(labels: Labels) {
    this.labels = labels
  }
}

/** Counts answers by route. On the way of every request: nothing here makes an object for one. */
export class RequestCounts {
  readonly #byRoute = new Map<RouteName, RouteCounts>()
  readonly #unknown = new RouteCounts(UNKNOWN)
  readonly #refusals = new Map<string, number>([
    ['internal', 0],
    ['store-unavailable', 0],
  ])
  /** What could not be read as HTTP at all. */
  #malformed = 0

  /** To be called with every answer; `elapsedMs` from when the headers were read until the answer is written. */
  readonly onAnswer = (route: RouteName | undefined, status: number, elapsedMs: number): void => {
    const counts = route === undefined ? this.#unknown : (this.#byRoute.get(route) ?? this.#add(route))
    counts.byClass[(status / 100) | 0]!++
    counts.latency.observe(elapsedMs / 1_000)
  }

  /** To be called with the code of every refusal, `internal` for a fault of ours. */
  readonly onRefusal = (code: string): void => {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
  }

  readonly onMalformed = (): void => void this.#malformed++

  metrics(): Metric[] {
    const labels = ['method', 'route', 'dialect']
    return [
      {
        name: 'waypost_http_requests_total',
        help: 'Requests answered, by route and status class. What no route has is counted as one.',
        type: 'counter',
        labels: [...labels, 'status'],
        read: () => this.#all().flatMap(answersOf),
      },
      {
        name: 'waypost_http_request_duration_seconds',
        help: 'From the headers of a request until its answer. Held polls take as long as they are held.',
        type: 'histogram',
        labels,
        read: () => this.#all().map((counts) => [counts.labels, counts.latency] as const),
      },
      {
        name: 'waypost_http_refusals_total',
        help: 'Requests that were answered with an error, by its code; internal: a fault of the server.',
        type: 'counter',
        labels: ['code'],
        read: () => [...this.#refusals].map(([code, count]) => [{ code }, count] as const),
      },
      {
        name: 'waypost_http_malformed_requests_total',
        help: 'What came in on a connection and was no HTTP/1.1, was too large for it or too slow.',
        type: 'counter',
        read: () => this.#malformed,
      },
    ]
  }

  #add(route: RouteName): RouteCounts {
    const { method, path } = route
    const counts = new RouteCounts({ method, route: path, dialect: dialectOf(path) })
    this.#byRoute.set(route, counts)
    return counts
  }

  /** Those that have answered something. */
  #all(): RouteCounts[] {
    return [...this.#byRoute.values(), ...(this.#unknown.latency.count > 0 ? [this.#unknown] : [])]
  }
}

function dialectOf(path: string): string {
  return /^\/(svc|nacos)\//.exec(path)?.[1] ?? 'none'
}

function answersOf({ labels, byClass }: RouteCounts): (readonly [Labels, number])[] {
  const answers: (readonly [Labels, number])[] = []
  for (const [place, count] of byClass.entries())
    if (count > 0) answers.push([Object.assign({}, labels, { status: CLASSES[place]! }), count])
  return answers
}
