import type { Histogram } from './histogram.ts'
import type { Labels, Metric } from './metric.ts'
import type { ServerFigures } from './server-metrics.ts'

/** The answers of one route or type of request, and how long they took. */
export type Timing = readonly [labels: Labels, latency: Histogram]

/** The further figures of `/nacos/actuator/prometheus`, read at a scrape. */
export interface NacosFigures extends ServerFigures {
  /** By `method` and `route`. */
  readonly requests: () => readonly Timing[]
  /** By `type`. */
  readonly clientRequests: () => readonly Timing[]
  /** Clients that are connected by gRPC. */
  readonly connectedClients: () => number
  /** The load of the machine: `cpu` from 0 to 1, and the load average of the last minute. */
  readonly machine: () => { readonly cpu: number; readonly load: number }
}

/**
 * The metrics of the Java server that boards and rules ask for, under its names. Metrics of its inner tasks, of its virtual
 * machine and of its leader have no counterpart here, and are left out.
 */
export function nacosMetrics(figures: NacosFigures): Metric[] {
  const { requests, clientRequests, machine } = figures
  const labelled = { method: 'method', uri: 'route' }
  return [
    monitor(figures),
    {
      name: 'nacos_config_subscriber',
      help: 'Items that clients listen to: v1 by long polls, v2 by gRPC.',
      type: 'gauge',
      labels: ['version'],
      read: () => [
        [{ version: 'v1' }, figures.polls().watched],
        [{ version: 'v2' }, figures.polls().listened],
      ],
    },
    ...timers('http_server_requests_seconds', 'Answered requests of HTTP', relabelled(requests, labelled)),
    ...timers(
      'grpc_server_requests_seconds',
      'Answered requests of gRPC',
      relabelled(clientRequests, { requestClass: 'type' }),
    ),
    {
      name: 'system_cpu_usage',
      help: 'Processor use of the machine, from 0 to 1.',
      type: 'gauge',
      read: () => machine().cpu,
    },
    {
      name: 'system_load_average_1m',
      help: 'Load average of the machine in the last minute.',
      type: 'gauge',
      read: () => machine().load,
    },
  ]
}

function monitor(figures: NacosFigures): Metric {
  const { known, polls, pushes, streams, connectedClients } = figures
  const read = (): [module: string, name: string, value: number][] => [
    ['config', 'configCount', known().configs],
    ['config', 'longPolling', polls().held],
    ['config', 'getConfig', requestsOf(figures, 'GET', 'ConfigQueryRequest')],
    ['config', 'publish', requestsOf(figures, 'POST', 'ConfigPublishRequest')],
    ['core', 'longConnection', connectedClients()],
    ['naming', 'serviceCount', known().services],
    ['naming', 'domCount', known().services],
    ['naming', 'ipCount', known().instances],
    ['naming', 'subscriberCount', pushes().subscribers + streams().subscribers],
    ['naming', 'failedPush', pushes().failed + streams().failed],
  ]
  return {
    name: 'nacos_monitor',
    help: 'Figures of the server, by the names that the Java server has for them.',
    type: 'gauge',
    labels: ['module', 'name'],
    read: () => read().map(([module, name, value]) => [{ module, name }, value] as const),
  }
}

/** The answered requests that read or publish items, over HTTP and gRPC. */
function requestsOf({ requests, clientRequests }: NacosFigures, method: string, type: string): number {
  const isMeant = ({ method: of, route = '' }: Labels) => of === method && /\/cs\/configs?$/.test(route)
  const overHttp = requests().filter(([labels]) => isMeant(labels))
  const overGrpc = clientRequests().filter(([labels]) => labels['type'] === type)
  return [...overHttp, ...overGrpc].reduce((sum, [, { count }]) => sum + count, 0)
}

function relabelled(read: () => readonly Timing[], names: Labels): () => Timing[] {
  const renamed = (labels: Labels) =>
    Object.fromEntries(Object.entries(names).map(([theirs, ours]) => [theirs, labels[ours] ?? '']))
  return () => read().map(([labels, latency]) => [renamed(labels), latency] as const)
}

function timers(name: string, help: string, read: () => Timing[]): Metric[] {
  const one = (end: 'count' | 'sum', what: string): Metric => ({
    name: `${name}_${end}`,
    help: `${help}: ${what}.`,
    type: 'counter',
    labels: [],
    read: () => read().map(([labels, latency]) => [labels, latency[end]] as const),
  })
  return [one('count', 'their number'), one('sum', 'their time in seconds')]
}
