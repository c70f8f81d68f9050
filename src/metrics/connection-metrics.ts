import { Histogram, SECONDS } from './histogram.ts'
import { counterBy, gauge, type Metric } from './metric.ts'

/** The figures of clients that are connected by gRPC. */
export interface ConnectionFigures {
  /** Connections that are set up. */
  readonly connections: () => number
  /** Sockets that are open. */
  readonly sockets: () => number
  /** Sockets that a limit has refused, and sockets on which nothing was set up. */
  readonly refused: () => { readonly limit: number; readonly idle: number }
  /** Ended connections, by cause. */
  readonly ended: () => Readonly<Record<string, number>>
  /** How often clients have met a limit of the server's own HTTP/2, by limit. */
  readonly http2Limits: () => Readonly<Record<string, number>>
  readonly questions: () => { readonly acknowledged: number; readonly unanswered: number }
}

/** The metrics of connected clients. */
export function connectionMetrics(figures: ConnectionFigures): Metric[] {
  return [
    gauge('waypost_grpc_connections', 'Clients that are connected by gRPC.', figures.connections),
    gauge(
      'waypost_grpc_sockets',
      'Open sockets of gRPC, also those on which no connection is set up.',
      figures.sockets,
    ),
    counterBy(
      'waypost_grpc_refused_total',
      'Sockets of gRPC that were closed: a limit on connections, or nothing was set up for 20 seconds (idle).',
      { label: 'reason', read: () => Object.entries(figures.refused()) },
    ),
    counterBy('waypost_grpc_connections_ended_total', 'Connections of gRPC that have ended, by cause.', {
      label: 'cause',
      read: () => Object.entries(figures.ended()),
    }),
    counterBy(
      'waypost_grpc_http2_limits_total',
      'Limits of HTTP/2 that clients of gRPC have met, by what was limited.',
      { label: 'reason', read: () => Object.entries(figures.http2Limits()) },
    ),
    counterBy('waypost_grpc_questions_total', 'Pushes and other requests to connected clients, by outcome.', {
      label: 'outcome',
      read: () => Object.entries(figures.questions()),
    }),
  ]
}

/** The answers to one type of request. */
class TypeCounts {
  done = 0
  refused = 0
  readonly latency = new Histogram(SECONDS)
}

/** Counts the requests of connected clients by type. */
export class ClientRequestCounts {
  readonly #byType = new Map<string, TypeCounts>()

  /** Call it for every answer; `errorCode` 0: the request was done. */
  readonly onAnswer = (type: string, errorCode: number, elapsedMs: number): void => {
    const counts = this.#byType.get(type) ?? this.#add(type)
    if (errorCode === 0) counts.done++
    else counts.refused++
    counts.latency.observe(elapsedMs / 1_000)
  }

  /** The requests that were answered. */
  get answered(): number {
    return [...this.#byType.values()].reduce((sum, { latency }) => sum + latency.count, 0)
  }

  metrics(): Metric[] {
    return [
      {
        name: 'waypost_grpc_requests_total',
        help: 'Answered requests of gRPC, by type and outcome. Unknown types share one series.',
        type: 'counter',
        labels: ['type', 'outcome'],
        read: () =>
          [...this.#byType].flatMap(([type, { done, refused }]) => [
            [{ type, outcome: 'done' }, done] as const,
            [{ type, outcome: 'refused' }, refused] as const,
          ]),
      },
      {
        name: 'waypost_grpc_request_duration_seconds',
        help: 'Time from a request of gRPC to its answer.',
        type: 'histogram',
        labels: ['type'],
        read: () => [...this.#byType].map(([type, { latency }]) => [{ type }, latency] as const),
      },
    ]
  }

  #add(type: string): TypeCounts {
    const counts = new TypeCounts()
    this.#byType.set(type, counts)
    return counts
  }
}
