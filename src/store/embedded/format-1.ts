import { savedLine } from './instance-lines.ts'
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
  key: ['serial'],
  texts: ['ip', 'cluster', 'app', 'metadata'],
  rowsAtOnce: 50,
}

/** The line of an instance, from its row of format 1. */
export function lineOfFormat1(row: Row): string {
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
  return savedLine(record, Number(serviceSerial), healthy !== 0)
}
