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

/** Empties that table and leaves it `serial` alone. */
export const EMPTY_INSTANCE_OF_FORMAT_1 = `
DELETE FROM instance;
ALTER TABLE instance DROP COLUMN service_serial;
ALTER TABLE instance DROP COLUMN ip;
ALTER TABLE instance DROP COLUMN port;
ALTER TABLE instance DROP COLUMN cluster;
ALTER TABLE instance DROP COLUMN ephemeral;
ALTER TABLE instance DROP COLUMN weight;
ALTER TABLE instance DROP COLUMN enabled;
ALTER TABLE instance DROP COLUMN app;
ALTER TABLE instance DROP COLUMN metadata;
ALTER TABLE instance DROP COLUMN saved_ms;
ALTER TABLE instance DROP COLUMN healthy;
ALTER TABLE instance DROP COLUMN checksum;
`

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
