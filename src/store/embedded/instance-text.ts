import type { InstanceRecord, Metadata } from '../../core/naming/instance.ts'

/** The parts of a record, without its serial, in the order in which they are written. */
type Parts = readonly [
  ip: string,
  port: number,
  cluster: string,
  ephemeral: boolean,
  weight: number,
  enabled: boolean,
  app: string,
  registered: Metadata,
]

/**
 * What the column `record` holds of an instance: JSON, without names, which would be half of it. It has no NUL and
 * no lone surrogate. Throws for a weight that JSON cannot say.
 */
export function instanceText(record: InstanceRecord): string {
  const { address, ephemeral, weight, enabled, app, registered } = record
  if (!Number.isFinite(weight)) throw new Error(`The weight ${weight} of an instance cannot be stored`)
  const { ip, port, cluster } = address
  return JSON.stringify([ip, port, cluster, ephemeral, weight, enabled, app, registered] satisfies Parts)
}

/** The record of an instance from its text, checked by its row's checksum. */
export function instanceOfText(serial: number, text: string): InstanceRecord {
  const [ip, port, cluster, ephemeral, weight, enabled, app, registered] = JSON.parse(text) as Parts
  return { address: { ip, port, cluster }, serial, ephemeral, weight, enabled, registered, app }
}
