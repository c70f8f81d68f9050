import { type ConfigKey, configKey } from '../../core/config/state/config-item.ts'
import { toNamespaceId } from '../../core/namespaces/namespace.ts'
import * as fields from './fields.ts'
import { Type } from './schema.ts'

/** The parameters that name a configuration item. */
export const KEY_PARAMS = {
  tenant: Type.Optional(fields.tenant),
  dataId: fields.dataId,
  group: fields.group,
}

/** The item that a request names. */
export function toConfigKey(named: {
  readonly tenant?: string
  readonly dataId: string
  readonly group: string
}): ConfigKey {
  return configKey(toNamespaceId(named.tenant), named.group, named.dataId)
}
