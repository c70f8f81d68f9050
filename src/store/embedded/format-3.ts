import { instanceOfLine, savedLine } from './instance-lines.ts'
import type { Row, Table } from './tables.ts'

/** The table `instance` as formats 2 and 3 had it: a row for each instance. */
export const INSTANCE_OF_FORMAT_3: Table = {
  name: 'instance',
  checked: ['serial', 'service_serial', 'healthy'],
  loose: [],
  key: ['serial'],
  texts: ['record'],
  content: 'record',
  rowsAtOnce: 50,
}

/** Empties that table and leaves it `serial` alone. */
export const EMPTY_INSTANCE_OF_FORMAT_3 = `
DELETE FROM instance;
ALTER TABLE instance DROP COLUMN service_serial;
ALTER TABLE instance DROP COLUMN healthy;
ALTER TABLE instance DROP COLUMN checksum;
ALTER TABLE instance DROP COLUMN record;
`

/** The line of an instance, from its row of format 2 or 3. */
export function lineOfFormat3([serial, serviceSerial, healthy, record]: Row): string {
  const said = instanceOfLine(`e ${serial} ${serviceSerial} ${healthy} ${String(record)}`)
  return savedLine(said.record, said.serviceSerial, said.healthy)
}
