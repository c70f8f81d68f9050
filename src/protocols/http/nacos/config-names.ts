import { type Static, Type } from '../../parameters/schema.ts'
import type { ConfigKey } from '../../../core/config/config-item.ts'
import { KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import * as fields from '../../parameters/fields.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'

/**
 * The names of an item on paths where not every variant of the request names one: a search gives patterns,
 * a deletion may give ids. Variants that need the names read them with `namedKey`.
 */
export const LOOSE_KEY_PARAMS = {
  tenant: Type.Optional(fields.tenant),
  dataId: Type.Optional(
    Type.String({
      maxLength: 256,
      trim: true,
      description: 'The id of the item; in a search, a pattern of it.',
    }),
  ),
  group: Type.Optional(
    Type.String({
      maxLength: 128,
      trim: true,
      description: 'The group of the item; in a search, a pattern of it.',
    }),
  ),
}

const NAMES = Type.Object(KEY_PARAMS)
const readNames = compileReader(NAMES, NACOS_CONFIG_RULES)

/** The item that loose parameters name, read as strictly as everywhere; throws Refusal where they do not. */
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
