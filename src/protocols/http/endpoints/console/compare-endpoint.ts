import type { Operations } from '../../../../operations/operations.ts'
import type { ConfigItem } from '../../../../core/config/state/config-item.ts'
import type { GrayItem } from '../../../../core/config/state/gray-version.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { LOOSE_KEY_PARAMS } from '../config/search-params.ts'

const NAME_FIELDS = { dataId: Json.string(), group: Json.string() }
const ONE_SIDE = Json.named(
  'OneSidedConfig',
  Json.object({ ...NAME_FIELDS, id: Json.string('As cfgId of a clone.'), md5: Json.string() }),
)

const GRAY_SIDE = Json.named(
  'GrayOnlySide',
  Json.object({
    ...NAME_FIELDS,
    grayNames: Json.list(Json.string('A gray version. The item has no formal one: a clone takes nothing.')),
  }),
)

const COMPARISON = Json.named(
  'Comparison',
  Json.object({
    equal: Json.integer('How many items are the same on both sides.'),
    onlyInFrom: Json.list(ONE_SIDE),
    onlyInTo: Json.list(ONE_SIDE),
    different: Json.list(
      Json.object({
        ...NAME_FIELDS,
        id: Json.string('The id of the item in from: as cfgId of a clone.'),
        fromMd5: Json.string(),
        toMd5: Json.string('As casMd5 of a clone.'),
        fromType: Json.string(),
        toType: Json.string(),
      }),
    ),
    grayOnlyInFrom: Json.list(GRAY_SIDE),
    grayOnlyInTo: Json.list(GRAY_SIDE),
    truncated: Json.boolean('Whether there are more.'),
  }),
)

const side = (description: string) =>
  fields.allowingEmpty(fields.withDescription(fields.namespaceId, description))

/** `GET …/console/compare`: the common and the different items of two namespaces. */
export function compareEndpoint(inventory: Operations['inventory']): Endpoint {
  return endpoint({
    summary: 'Compares the configurations of two namespaces',
    permission: inventory.compare.permission,
    answers: answersJson(COMPARISON),
    params: Type.Object({
      from: side('The namespace of one side; empty: public.'),
      to: side('The namespace of the other side; empty: public.'),
      dataId: LOOSE_KEY_PARAMS.dataId,
      group: LOOSE_KEY_PARAMS.group,
    }),
    handle: async ({ params, caller }) => {
      const [from, to] = [toNamespaceId(params.from), toNamespaceId(params.to)]
      const { dataId = '', group = '' } = params
      const compared = await inventory.compare({ from, to, dataId, group }, caller)
      return jsonAnswer({
        equal: compared.equal,
        onlyInFrom: compared.onlyInFrom.map(oneSideJson),
        onlyInTo: compared.onlyInTo.map(oneSideJson),
        different: compared.different.map((pair) => ({
          ...nameJson(pair.from),
          fromMd5: pair.from.md5,
          toMd5: pair.to.md5,
          fromType: pair.from.type,
          toType: pair.to.type,
        })),
        grayOnlyInFrom: compared.grayOnlyInFrom.map(graySideJson),
        grayOnlyInTo: compared.grayOnlyInTo.map(graySideJson),
        truncated: compared.isTruncated,
      })
    },
  })
}

function graySideJson({ key: { dataId, group }, versions }: GrayItem): object {
  return { dataId, group, grayNames: versions.map(({ name }) => name) }
}

function oneSideJson(item: ConfigItem): object {
  return { ...nameJson(item), md5: item.md5 }
}

function nameJson({ key, origin }: ConfigItem): object {
  return { dataId: key.dataId, group: key.group, id: String(origin.id) }
}
