import type { Logger } from 'pino'
import { LiveProcesses } from '../../core/cluster/members/live-processes.ts'
import { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import type { ConnectionProcesses } from '../../core/naming/liveness/connection-processes.ts'
import type { Timeline } from '../../core/naming/timeline/timeline.ts'
import { serverStatus, serves } from '../../core/operator/server-status.ts'
import type { PublishingFigures } from '../../metrics/publishing-metrics.ts'
import { loop, monotonicMs } from './clocks.ts'
import type { Care, CareParts, Installation } from './installation.ts'

/** The dependencies of publishing instances of connections. */
export interface PublishingParts extends Omit<CareParts, 'isAlive'> {
  readonly installation: Pick<Installation, 'process' | 'isMember' | 'careOf' | 'storeFaults'>
  readonly timeline: Pick<Timeline, 'whileLeaving'>
}

/** The instances of this process's connections, and instances that other processes have left behind. */
export interface Publishing {
  readonly connectionInstances: ConnectionInstances
  readonly processes: ConnectionProcesses
  readonly figures: PublishingFigures
  /** Whether a process is this one, or belongs to a live server. */
  readonly isAlive: (process: string) => boolean
}

/** Makes the parts that publish the instances of connections, and the care for all instances. */
export function openCare(
  parts: PublishingParts,
  log: Pick<Logger, 'warn'>,
): { publishing: Publishing; care: Care } {
  const { installation, state, liveness, engine, healthClock: clock, watch } = parts
  const { processes } = liveness
  const { process } = installation
  const connectionInstances = new ConnectionInstances({
    state,
    processes,
    engine,
    process,
    clock,
    monotonicMs,
    loop,
    canWrite: () => installation.isMember() && serves(serverStatus(state.switches), 'write'),
    whyNot: () => installation.storeFaults?.().find(({ code }) => code === 'store-empty')?.reason,
    report: (error, text) => watch.report(error, text),
    whileLeaving: parts.timeline.whileLeaving,
    replaced: ({ registration: { serviceKey, connectionId, client }, replaced, by }) =>
      log.warn(
        {
          ...serviceKey,
          connection: connectionId,
          library: client?.library,
          client: client?.ip,
          replaced,
          by,
        },
        'a registration of a connection has replaced its other one in the service: to have both, a client publishes a batch',
      ),
  })
  const isAlive = new LiveProcesses(state, process).has
  return {
    publishing: {
      connectionInstances,
      processes,
      isAlive,
      figures: {
        connections: () => connectionInstances.registrations.size,
        instances: () => processes.instancesOf(process),
        waiting: () => connectionInstances.waiting,
        restored: () => connectionInstances.counts.restored,
        orphans: () => processes.orphans,
        orphansRemoved: () => processes.counts.removed,
      },
    },
    care: installation.careOf({ ...parts, isAlive }),
  }
}
