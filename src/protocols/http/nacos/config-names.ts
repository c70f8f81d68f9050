import { type Static, Type } from '../../parameters/schema.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'

const NAMES = Type.Object(KEY_PARAMS)
const readNames = compileReader(NAMES, NACOS_CONFIG_RULES)

/** The item that loose parameters (LOOSE_KEY_PARAMS) name, read as strictly as everywhere; throws Refusal where they do not. */
export function namedKey({
  tenant,
  dataId,
  group,
}: {
  tenant?: string
  dataId?: string
  group?: string
}): ConfigKey {
  const sent = Object.entries({ tenant, dataId, group }).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return toConfigKey(readNames(new Map(sent)) as Static<typeof NAMES>)
}
