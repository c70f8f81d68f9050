import type { Metric } from './metric.ts'

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
    {
      name: 'waypost_publishing_connections',
      help: 'Connections of this server that publish instances.',
      type: 'gauge',
      read: figures.connections,
    },
    {
      name: 'waypost_connection_instances',
      help: 'Instances that the connections of this server publish.',
      type: 'gauge',
      read: figures.instances,
    },
    {
      name: 'waypost_connection_changes_waiting',
      help: 'Services of connections in which something is to be removed or registered again, or others have an address.',
      type: 'gauge',
      read: figures.waiting,
    },
    {
      name: 'waypost_connection_instances_restored_total',
      help: 'Instances of live connections that others had removed or taken over, and that this server has registered again.',
      type: 'counter',
      read: figures.restored,
    },
    {
      name: 'waypost_orphaned_instances',
      help: 'Instances of connections whose server is gone, until their clients have registered elsewhere.',
      type: 'gauge',
      read: figures.orphans,
    },
    {
      name: 'waypost_orphaned_instances_removed_total',
      help: 'Instances that this server has removed because the server of their connection was gone.',
      type: 'counter',
      read: figures.orphansRemoved,
    },
  ]
}
