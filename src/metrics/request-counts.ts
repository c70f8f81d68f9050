import { Histogram, SECONDS } from './histogram.ts'
import { counter, counterBy, type Labels, type Metric } from './metric.ts'

/** The method and the path of a route. */
export interface RouteName {
  readonly method: string
  readonly path: string
}

const CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx']
/** Requests to unknown paths share one series, because their path and method come from the client. */
const UNKNOWN: Labels = { method: 'any', route: 'unknown', dialect: 'none' }

/** The answers of one route, by status class, and their duration. */
class RouteCounts {
  readonly labels: Labels
  readonly byClass = new Float64Array(CLASSES.length)
  readonly latency = new Histogram(SECONDS)

  constructor(labels: Labels) {
    this.labels = labels
  }
}

/** Counts answers by route. It runs for every request and allocates no object for it. */
export class RequestCounts {
  readonly #byRoute = new Map<RouteName, RouteCounts>()
  readonly #unknown = new RouteCounts(UNKNOWN)
  readonly #refusals = new Map<string, number>([
    ['internal', 0],
    ['store-unavailable', 0],
  ])
  /** Inputs that are not HTTP. */
  #malformed = 0

  /** Call it for every answer. `elapsedMs` is the time from the request's headers to its answer. */
  readonly onAnswer = (route: RouteName | undefined, status: number, elapsedMs: number): void => {
    const counts = route === undefined ? this.#unknown : (this.#byRoute.get(route) ?? this.#add(route))
    counts.byClass[(status / 100) | 0]!++
    counts.latency.observe(elapsedMs / 1_000)
  }

  /** Call it with the code of every refusal; the code of a fault of the server is `internal`. */
  readonly onRefusal = (code: string): void => {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
  }

  readonly onMalformed = (): void => void this.#malformed++

  /** The requests that were answered. */
  get answered(): number {
    return this.#all().reduce((sum, { latency }) => sum + latency.count, 0)
  }

  metrics(): Metric[] {
    const labels = ['method', 'route', 'dialect']
    return [
      {
        name: 'waypost_http_requests_total',
        help: 'Answered requests, by route and status class. Requests to unknown paths share one series.',
        type: 'counter',
        labels: [...labels, 'status'],
        read: () => this.#all().flatMap(answersOf),
      },
      {
        name: 'waypost_http_request_duration_seconds',
        help: 'Time from the headers of a request to its answer, with the hold time of polls.',
        type: 'histogram',
        labels,
        read: () => this.#all().map((counts) => [counts.labels, counts.latency] as const),
      },
      counterBy(
        'waypost_http_refusals_total',
        'Requests that were answered with an error, by code; internal: a fault of the server.',
        { label: 'code', read: () => [...this.#refusals] },
      ),
      counter(
        'waypost_http_malformed_requests_total',
        'Input that is not HTTP/1.1, has too large headers, or is too slow.',
        () => this.#malformed,
      ),
    ]
  }

  #add(route: RouteName): RouteCounts {
    const { method, path } = route
    const counts = new RouteCounts({ method, route: path, dialect: dialectOf(path) })
    this.#byRoute.set(route, counts)
    return counts
  }

  /** The routes with at least one answer. */
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
