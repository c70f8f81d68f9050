import { askedTiming } from '../../core/naming/state/beat-timing.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { instanceIdOf } from '../../core/naming/state/instance.ts'
import { decimalText } from './java-numbers.ts'

const GENERATOR_KEY = 'preserved.instance.id.generator'

/** The facts from which a host is written. */
export type HostFacts = Pick<Instance, 'record' | 'metadata' | 'entry'>

/**
 * One entry of `hosts` (interface.md, Instance), always with all 14 fields in this order: some clients compare hosts by their
 * text. `weight` is written as Java writes a double. `beatIntervalMs` is the interval of instances that do not set their own.
 */
export function hostJson(host: HostFacts, healthy: boolean, beatIntervalMs: number): string {
  const { record, metadata, entry } = host
  // As asked for, not as they count: clients compare these with their own.
  const { intervalMs, unhealthyMs, removeMs } = askedTiming(metadata)
  const { address } = record
  const { groupedName } = entry.service.key
  const rest = JSON.stringify({
    healthy,
    enabled: record.enabled,
    ephemeral: record.ephemeral,
    clusterName: address.cluster,
    serviceName: groupedName,
    metadata,
    instanceHeartBeatInterval: intervalMs ?? beatIntervalMs,
    instanceHeartBeatTimeOut: unhealthyMs,
    ipDeleteTimeout: removeMs,
    instanceIdGenerator: metadata[GENERATOR_KEY] ?? 'simple',
  })
  const [id, ip] = [JSON.stringify(instanceIdOf(address, groupedName)), JSON.stringify(address.ip)]
  const weight = decimalText(record.weight)
  return `{"instanceId":${id},"ip":${ip},"port":${address.port},"weight":${weight},${rest.slice(1)}`
}

const BEFORE_WEIGHT = '"weight":'

/** A host with its weight as JSON usually has it: `1`. */
export function withPlainWeight(json: string): string {
  // The first match is the member itself: within a text of JSON a quote has a backslash before it.
  const from = json.indexOf(BEFORE_WEIGHT) + BEFORE_WEIGHT.length
  const to = json.indexOf(',', from)
  return `${json.slice(0, from)}${Number(json.slice(from, to))}${json.slice(to)}`
}
