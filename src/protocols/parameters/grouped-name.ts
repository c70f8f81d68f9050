import { GROUP_SEPARATOR } from '../../core/naming/state/service.ts'
import type { Refusal } from '../../core/refusal.ts'
import { groupName as groupField } from './fields.ts'
import { compileField, type FieldSchema, invalid } from './parameter-field.ts'
import { SVC_RULES } from './schema.ts'

const checkGroup = compileField('groupName', groupField as FieldSchema, SVC_RULES)

/**
 * `<group>@@<service>` from the two parameters: a group in serviceName takes precedence. Throws Refusal
 * `invalid-parameter` for an invalid group; serviceName itself is checked by its field.
 */
export function toGroupedName(serviceName: string, groupName: string): string {
  const at = serviceName.indexOf(GROUP_SEPARATOR)
  if (at < 0) return `${groupName}${GROUP_SEPARATOR}${serviceName}`
  checkGroup(serviceName.slice(0, at))
  if (serviceName.includes(GROUP_SEPARATOR, at + GROUP_SEPARATOR.length)) throw ambiguous(serviceName)
  return serviceName
}

function ambiguous(serviceName: string): Refusal {
  const allowed = '<group>@@<name>, with one @@'
  return invalid('serviceName', allowed, serviceName)
}

/** The names in a `clusters` parameter, without blanks around them and without empty ones. */
export function splitClusters(clusters: string): string[] {
  const names = clusters.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}
