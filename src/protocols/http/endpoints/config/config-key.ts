import { Type } from '../../../parameters/schema.ts'
import { type ConfigItem, type ConfigKey, configKey } from '../../../../core/config/config-item.ts'
import { toNamespaceId, toTenant } from '../../../../core/namespace-id.ts'
import { Refusal } from '../../../../core/refusal.ts'
import * as fields from '../../../parameters/fields.ts'

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

/** The item, or Refusal `config-not-found`. */
export function existingConfig(
  state: { config(key: ConfigKey): ConfigItem | undefined },
  key: ConfigKey,
): ConfigItem {
  const item = state.config(key)
  if (item === undefined) throw configNotFound(key)
  return item
}

/** A Refusal `config-not-found` that names the item. */
export function configNotFound({ dataId, group, namespaceId }: ConfigKey): Refusal {
  const message = `There is no configuration ${dataId} in group ${group} of namespace ${namespaceId}.`
  return new Refusal('config-not-found', message, {
    names: { dataId, group, tenant: toTenant(namespaceId) },
  })
}
