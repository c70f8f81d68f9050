import type { ConfigSearch } from '../../../../core/config/state/search-configs.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Static, Type } from '../../../parameters/schema.ts'

/**
 * The names of an item on paths where not every variant of the request names one: a search gives patterns,
 * a deletion may give ids.
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

/** The parameters of a search and an export. */
export const SEARCH_PARAMS = {
  ...LOOSE_KEY_PARAMS,
  appName: Type.Optional(fields.appName),
  config_tags: Type.Optional(fields.configTags),
  types: Type.Optional(
    Type.String({ maxLength: 256, description: 'In a search: types, separated by commas.' }),
  ),
}

/** The words by which a search says how names are meant. */
export const SEARCH_MODE = Type.Enum(['accurate', 'blur'], {
  description: 'A page of the items that match. blur: `*` in a name stands for any characters.',
})

/** The page of a search. */
export const SEARCH_PAGE_PARAMS = fields.page(100)

const SEARCH = Type.Object(SEARCH_PARAMS)

/** The search in the parameters. */
export function searchOf(params: Static<typeof SEARCH>, mode: ConfigSearch['mode']): ConfigSearch {
  return {
    namespaceId: toNamespaceId(params.tenant),
    mode,
    dataId: params.dataId ?? '',
    group: params.group ?? '',
    appName: params.appName ?? '',
    configTags: params.config_tags ?? '',
    types: (params.types ?? '').split(',').filter((type) => type !== ''),
  }
}
