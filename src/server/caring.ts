import { LiveProcesses } from '../core/cluster/members/live-processes.ts'
import { ConnectionInstances } from '../core/naming/connections/connection-instances.ts'
import { Orphans } from '../core/naming/connections/orphans.ts'
import { serverStatus, serves } from '../core/operator/server-status.ts'
import type { PublishingFigures } from '../metrics/publishing-metrics.ts'
import { loop, monotonicMs } from './clocks.ts'
import type { Care, CareParts, Installation } from './installation.ts'

/** What the instances of connections are published with. */
export interface PublishingParts extends Omit<CareParts, 'orphans'> {
  readonly installation: Pick<Installation, 'process' | 'isMember' | 'careOf'>
}

/** The instances of connections: those of this process, and those that other processes have left behind. */
export interface Publishing {
  readonly connectionInstances: ConnectionInstances
  readonly orphans: Orphans
  readonly figures: PublishingFigures
  /** Whether a process is this one, or that of a live server. */
  readonly isAlive: (process: string) => boolean
}

/** Makes what publishes the instances of connections, and what cares for all instances. */
export function openCare(parts: PublishingParts): { publishing: Publishing; care: Care } {
  const { installation, state, liveness, engine, healthClock: clock, watch } = parts
  const { owners } = liveness
  const { process } = installation
  const connectionInstances = new ConnectionInstances({
    state,
    owners,
    engine,
    process,
    clock,
    monotonicMs,
    loop,
    canWrite: () => installation.isMember() && serves(serverStatus(state.switches), 'write'),
    report: (error, text) => watch.report(error, text),
  })
  const isAlive = new LiveProcesses(state, process).has
  const orphans = new Orphans({ owners, isAlive })
  return {
    publishing: {
      connectionInstances,
      orphans,
      isAlive,
      figures: {
        connections: () => connectionInstances.book.size,
        instances: () => owners.of(process)?.published.size ?? 0,
        waiting: () => connectionInstances.waiting,
        restored: () => connectionInstances.counts.restored,
        orphans: () => orphans.size,
        orphansRemoved: () => orphans.counts.removed,
      },
    },
    care: installation.careOf({ ...parts, orphans }),
  }
}
