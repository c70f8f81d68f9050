import type { Instance } from '../../core/naming/instance.ts'
import { instanceIdOf } from '../../core/naming/instance.ts'

const GENERATOR_KEY = 'preserved.instance.id.generator'

/** What a host is written from. */
export type HostFacts = Pick<Instance, 'record' | 'metadata' | 'timing' | 'entry'>

/**
 * One entry of `hosts` (interface.md, Instance), always with all 14 fields in this order: some clients
 * compare hosts by their text. `beatIntervalMs` is the interval of instances that do not set their own.
 */
export function hostJson(host: HostFacts, healthy: boolean, beatIntervalMs: number): string {
  const { record, metadata, timing, entry } = host
  const { address } = record
  const { groupedName } = entry.service.key
  return JSON.stringify({
    instanceId: instanceIdOf(address, groupedName),
    ip: address.ip,
    port: address.port,
    weight: record.weight,
    healthy,
    enabled: record.enabled,
    ephemeral: record.ephemeral,
    clusterName: address.cluster,
    serviceName: groupedName,
    metadata,
    instanceHeartBeatInterval: timing.intervalMs ?? beatIntervalMs,
    instanceHeartBeatTimeOut: timing.unhealthyMs,
    ipDeleteTimeout: timing.removeMs,
    instanceIdGenerator: metadata[GENERATOR_KEY] ?? 'simple',
  })
}
