import { counter, gauge, type Metric } from './metric.ts'

/** The figures of the instances of connections. Counts are since the start. */
export interface PublishingFigures {
  /** On this server: connections that publish, and their instances. */
  readonly connections: () => number
  readonly instances: () => number
  /** Services of connections that wait for a removal or a registration, or for an address that somebody else has. */
  readonly waiting: () => number
  readonly restored: () => number
  /** Instances that the connections of other processes have left behind. */
  readonly orphans: () => number
  readonly orphansRemoved: () => number
}

/** The metrics of the instances of connections. */
export function publishingMetrics(figures: PublishingFigures): Metric[] {
  return [
    gauge(
      'waypost_publishing_connections',
      'Connections of this server that publish instances.',
      figures.connections,
    ),
    gauge(
      'waypost_connection_instances',
      'Instances that the connections of this server publish.',
      figures.instances,
    ),
    gauge(
      'waypost_connection_changes_waiting',
      'Services of connections in which something is to be removed or registered again, or others have an address.',
      figures.waiting,
    ),
    counter(
      'waypost_connection_instances_restored_total',
      'Instances of live connections that others had removed or taken over, and that this server has registered again.',
      figures.restored,
    ),
    gauge(
      'waypost_orphaned_instances',
      'Instances of connections whose server is gone, until their clients have registered elsewhere.',
      figures.orphans,
    ),
    counter(
      'waypost_orphaned_instances_removed_total',
      'Instances that this server has removed because the server of their connection was gone.',
      figures.orphansRemoved,
    ),
  ]
}
