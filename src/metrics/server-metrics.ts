import { counter, counterBy, gauge, type Metric } from './metric.ts'

/** Counts since the start, by name. */
type Counts<Name extends string> = Readonly<Record<Name, number>>

/** The figures of the server's parts, read at a scrape. */
export interface ServerFigures {
  readonly version: string
  readonly isReady: () => boolean
  readonly connections: () => number
  /** Connections that a limit refused, and connections whose client did not read. */
  readonly lostConnections: () => Counts<'refused' | 'cut'>
  /** Requests without an answer yet, held polls included. */
  readonly inFlight: () => number
  readonly backlog: () => Counts<'behind' | 'waiting'>
  readonly polls: () => Counts<'held' | 'watched' | PollCount | ListenerCount>
  readonly live: () => Counts<'open' | LiveCount> & { readonly ended: Counts<LiveEnd> }
  readonly pushes: () => Counts<'subscribers' | PushCount>
  readonly streams: () => Counts<'subscribers' | StreamCount>
  readonly health: () => Counts<'renewed' | 'unknown' | 'unhealthy' | 'removed' | 'forgotten'>
  readonly probes: () => Counts<'watched' | 'running' | 'changed' | ProbeOutcome>
  readonly known: () => Counts<'services' | 'instances' | 'configs' | 'namespaces'>
}

type PollCount = 'begun' | 'refused' | 'changed' | 'timeout' | 'left' | 'stopped'
type ListenerCount = 'listeners' | 'listened' | 'reported'
type LiveCount = 'opened' | 'refused' | 'resumed' | 'resets' | 'events'
type LiveEnd = 'signed-out' | 'too-slow' | 'gave-way' | 'stopping'
type PushCount = 'sent' | 'acked' | 'resent' | 'failed' | 'tooLarge'
type StreamCount = 'sent' | 'acked' | 'failed' | 'tooLarge'
type ProbeOutcome = 'up' | 'down' | 'downNow'

/** The metrics of the server's parts. */
export function serverMetrics(figures: ServerFigures): Metric[] {
  return [
    ...buildMetrics(figures),
    ...connectionMetrics(figures),
    ...pollMetrics(figures),
    ...listenerMetrics(figures),
    ...liveMetrics(figures),
    ...pushMetrics(figures),
    ...streamMetrics(figures),
    ...namingMetrics(figures),
    ...probeMetrics(figures),
    ...engineMetrics(figures),
  ]
}

function buildMetrics({ version, isReady }: ServerFigures): Metric[] {
  return [
    {
      name: 'waypost_build_info',
      help: 'The versions of the server and of Node.js; always 1.',
      type: 'gauge',
      labels: ['version', 'node'],
      read: () => [[{ version, node: process.version }, 1]],
    },
    gauge('waypost_ready', 'Whether /readyz answers 200.', () => (isReady() ? 1 : 0)),
  ]
}

function connectionMetrics({ connections, lostConnections, inFlight }: ServerFigures): Metric[] {
  return [
    gauge('waypost_http_connections', 'Open connections.', connections),
    counterBy(
      'waypost_http_connections_lost_total',
      'Connections that were refused or closed because of a limit, or cut because the client did not read its answer.',
      { label: 'reason', read: named(['refused', 'cut'], lostConnections) },
    ),
    gauge(
      'waypost_http_requests_in_flight',
      'Requests without an answer yet, held polls included.',
      inFlight,
    ),
  ]
}

function pollMetrics({ polls }: ServerFigures): Metric[] {
  return [
    gauge('waypost_polls_held', 'Long polls that wait for a change.', () => polls().held),
    gauge('waypost_polls_watched_items', 'Items that the held polls watch.', () => polls().watched),
    counter('waypost_polls_begun_total', 'Long polls that were held.', () => polls().begun),
    counter(
      'waypost_polls_refused_total',
      'Long polls that were refused, because a limit was reached.',
      () => polls().refused,
    ),
    counterBy(
      'waypost_polls_ended_total',
      'Ended polls: an item changed, the timeout passed, the client disconnected (left), the server stopped.',
      { label: 'outcome', read: named(['changed', 'timeout', 'left', 'stopped'], polls) },
    ),
  ]
}

function listenerMetrics({ polls }: ServerFigures): Metric[] {
  return [
    gauge(
      'waypost_stream_listeners',
      'gRPC connections that listen to configurations.',
      () => polls().listeners,
    ),
    gauge('waypost_stream_listened_items', 'Items that they listen to.', () => polls().listened),
    counter(
      'waypost_stream_config_changes_total',
      'Changes of items, each counted for every connection that listens to it.',
      () => polls().reported,
    ),
  ]
}

function liveMetrics({ live }: ServerFigures): Metric[] {
  return [
    gauge('waypost_event_streams', 'Browsers that follow changes.', () => live().open),
    counter('waypost_event_streams_opened_total', 'Event streams that were opened.', () => live().opened),
    counter(
      'waypost_event_streams_refused_total',
      'Event streams that were refused, because a limit was reached.',
      () => live().refused,
    ),
    counter(
      'waypost_event_streams_resumed_total',
      'Event streams that continued after an interruption without a loss.',
      () => live().resumed,
    ),
    counter(
      'waypost_event_stream_resets_total',
      'Times that a stream was notified that everything may have changed.',
      () => live().resets,
    ),
    counter(
      'waypost_event_stream_events_total',
      'Events that were sent to streams, each counted once.',
      () => live().events,
    ),
    counterBy(
      'waypost_event_streams_ended_total',
      'Event streams that the server has ended: the user signed out, the client did not read, the server stopped.',
      {
        label: 'reason',
        read: named(['signed-out', 'too-slow', 'gave-way', 'stopping'], () => live().ended),
      },
    ),
  ]
}

function pushMetrics({ pushes }: ServerFigures): Metric[] {
  return [
    gauge('waypost_push_subscribers', 'Subscriptions for pushes.', () => pushes().subscribers),
    counter('waypost_pushes_sent_total', 'Pushes sent for the first time.', () => pushes().sent),
    counter('waypost_pushes_acked_total', 'Pushes that were acknowledged.', () => pushes().acked),
    counter(
      'waypost_pushes_resent_total',
      'Pushes that were sent again, because no ack came.',
      () => pushes().resent,
    ),
    counter(
      'waypost_pushes_failed_total',
      'Pushes without an ack after the second datagram.',
      () => pushes().failed,
    ),
    counter(
      'waypost_pushes_too_large_total',
      'Lists that do not fit a datagram of their client.',
      () => pushes().tooLarge,
    ),
  ]
}

function streamMetrics({ streams }: ServerFigures): Metric[] {
  return [
    gauge('waypost_stream_subscribers', 'Subscriptions of connections.', () => streams().subscribers),
    counter('waypost_stream_pushes_sent_total', 'Lists sent to connections.', () => streams().sent),
    counter('waypost_stream_pushes_acked_total', 'Lists that were acknowledged.', () => streams().acked),
    counter('waypost_stream_pushes_failed_total', 'Lists without an ack within 5 s.', () => streams().failed),
    counter(
      'waypost_stream_pushes_too_large_total',
      'Lists that are longer than a message of gRPC may be.',
      () => streams().tooLarge,
    ),
  ]
}

function namingMetrics({ health, known }: ServerFigures): Metric[] {
  return [
    counterBy(
      'waypost_beats_total',
      'Beats by outcome; unknown: the instance is not registered (a full beat registers it).',
      { label: 'outcome', read: named(['renewed', 'unknown'], health) },
    ),
    counterBy(
      'waypost_instances_silent_total',
      'Ephemeral instances that became unhealthy or were removed, because no beat came.',
      { label: 'outcome', read: named(['unhealthy', 'removed'], health) },
    ),
    counter(
      'waypost_instances_not_remembered_total',
      'Instances removed by silence whose registration is not remembered, because as many are as may be.',
      () => health().forgotten,
    ),
    gauge('waypost_services', 'Services.', () => known().services),
    gauge('waypost_instances', 'Instances in all services.', () => known().instances),
    gauge('waypost_configs', 'Configuration items.', () => known().configs),
    gauge('waypost_namespaces', 'Namespaces on the list, without public.', () => known().namespaces),
  ]
}

function probeMetrics({ probes }: ServerFigures): Metric[] {
  return [
    gauge('waypost_probe_targets', 'Persistent instances that are probed.', () => probes().watched),
    gauge('waypost_probes_running', 'Probes in flight; at most 64.', () => probes().running),
    counterBy(
      'waypost_probes_total',
      'Finished probes by outcome; refused: an answer that counts as unhealthy at once.',
      {
        label: 'outcome',
        read: () => {
          const { up, down, downNow: refused } = probes()
          return Object.entries({ up, down, refused })
        },
      },
    ),
    counter(
      'waypost_probe_health_changes_total',
      'Changes of health that probes found.',
      () => probes().changed,
    ),
  ]
}

function engineMetrics({ backlog }: ServerFigures): Metric[] {
  return [
    gauge(
      'waypost_store_rows_behind',
      'Records that are applied and not yet on disk.',
      () => backlog().behind,
    ),
    gauge(
      'waypost_store_commands_waiting',
      'Commands that wait for the next commit.',
      () => backlog().waiting,
    ),
  ]
}

/** The entries of these names, as each scrape reads them. */
function named<Name extends string>(
  names: readonly Name[],
  read: () => Counts<Name>,
): () => (readonly [Name, number])[] {
  return () => {
    const counts = read()
    return names.map((name) => [name, counts[name]] as const)
  }
}
