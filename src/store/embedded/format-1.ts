import { instanceText } from './instance-text.ts'
import type { Row, Table } from './tables.ts'

/** The table `instance` as format 1 had it: a column for each part of a record. All other tables are as they were. */
export const INSTANCE_OF_FORMAT_1: Table = {
  name: 'instance',
  checked: [
    'serial',
    'service_serial',
    'ip',
    'port',
    'cluster',
    'ephemeral',
    'weight',
    'enabled',
    'app',
    'metadata',
    'saved_ms',
  ],
  loose: ['healthy'],
  rowsAtOnce: 50,
}

/** The row of an instance, without its checksum, from one of format 1. */
export function instanceOfFormat1(row: Row): Row {
  const [serial, serviceSerial, ip, port, cluster, ephemeral, weight, enabled, app, metadata, , healthy] = row
  const record = {
    address: { ip: String(ip), port: Number(port), cluster: String(cluster) },
    serial: Number(serial),
    ephemeral: ephemeral === 1,
    weight: Number(weight),
    enabled: enabled === 1,
    registered: JSON.parse(String(metadata)) as Record<string, string>,
    app: String(app),
  }
  // NULL was health that had never been said, and counted as healthy.
  return [Number(serial), Number(serviceSerial), Number(healthy !== 0), instanceText(record)]
}
