import type { Operations } from '../../../../operations/operations.ts'
import { toNamespaceId, toTenant } from '../../../../core/namespaces/namespace.ts'
import type { WatchedItem } from '../../../../core/config/state/config-view.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import type { Answer } from '../../routing/answer.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/config-key.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { withMissing } from '../missing-servers.ts'

const WATCHING = Json.named(
  'Listening',
  Json.object({
    collectStatus: Json.constant(200),
    lisentersGroupkeyStatus: Json.map(Json.string('The md5 that the client has.')),
  }),
)

/**
 * The watchers of items, and the items of a watcher (http-compat.md section 2); `json` labels the answers as
 * the dialect does.
 */
export function watchingEndpoints(listening: Operations['listening'], json: (value: object) => Answer) {
  return {
    watchersOf: endpoint({
      summary: 'The addresses that watch an item, each with its md5',
      permission: listening.watchersOf.permission,
      answers: answersJson(WATCHING),
      params: Type.Object(KEY_PARAMS),
      handle: ({ params, caller }) =>
        afterwards(listening.watchersOf(toConfigKey(params), caller), ({ value, missing }) =>
          withMissing(json(watchJson(value)), missing),
        ),
    }),
    watchedBy: endpoint({
      summary: 'The items of a namespace that an address watches, each with its md5',
      permission: listening.watchedBy.permission,
      answers: answersJson(WATCHING),
      params: Type.Object({
        ip: Type.String({ maxLength: 128, description: 'The address of the client.' }),
        tenant: Type.Optional(fields.tenant),
        all: Type.Optional(Type.Boolean({ description: 'The items of every namespace.' })),
      }),
      handle: ({ params, caller }) => {
        const namespaceId = params.all === true ? undefined : toNamespaceId(params.tenant)
        return afterwards(
          listening.watchedBy({ ip: params.ip, namespaceId }, caller),
          ({ value: items, missing }) =>
            withMissing(json(watchJson(items.map((item) => [nameOf(item), item.md5]))), missing),
        )
      },
    }),
  } satisfies Record<string, Endpoint>
}

/** `dataId+group`, and `+tenant` outside the default namespace. */
function nameOf({ key }: WatchedItem): string {
  const tenant = toTenant(key.namespaceId)
  return [key.dataId, key.group, ...(tenant === '' ? [] : [tenant])].join('+')
}

/** Tools look for this name of the field. */
function watchJson(md5ByName: Iterable<readonly [string, string]>): object {
  return { collectStatus: 200, lisentersGroupkeyStatus: Object.fromEntries(md5ByName) }
}
