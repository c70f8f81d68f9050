import type { Operations } from '../../../../operations/operations.ts'
import type { ItemClient } from '../../../../core/clients/client-views.ts'
import type { GrayVersion } from '../../../../core/config/state/gray-version.ts'
import type { ItemClients } from '../../../../operations/config/config-listening.ts'
import { CLIENT_HAS, type ClientHas, whatClientHas } from '../../../../operations/console/client-has.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/publish-params.ts'
import { labelsText } from '../../../parameters/label-texts.ts'

const WATCHERS = Json.named(
  'Watchers',
  Json.object({
    md5: Json.nullable(Json.string('The md5 of the formal version; null where there is none.')),
    upToDate: Json.integer('How many clients have the version that is for them.'),
    count: Json.integer(),
    shares: Json.named(
      'WatcherShares',
      Json.object({
        gray: Json.integer('Clients that have the gray version that is for them.'),
        formal: Json.integer('Clients that have the formal version, which is for them.'),
        behind: Json.integer('Clients that have another text than the one that is for them.'),
        unknown: Json.integer('Clients of which nobody can tell.'),
      }),
    ),
    watchers: Json.list(
      Json.named(
        'Watcher',
        Json.object({
          ip: Json.string(),
          port: Json.nullable(Json.integer('Null where it is not known.')),
          agent: Json.string('How the library of the client names itself; empty where it is not known.'),
          md5: Json.string('What the client has; empty: no item.'),
          upToDate: Json.boolean(),
          has: Json.words(
            CLIENT_HAS,
            'The version that is for it, a gray one or the formal one; another text; or nobody can tell.',
          ),
          grayName: Json.nullable(
            Json.string('The gray version that is for the client; null: the formal one.'),
          ),
          ruleIp: Json.string('The address by which rules of gray versions know the client.'),
          ruleTag: Json.string('Its tag; empty: none.'),
          ruleLabels: Json.string(
            'Its labels, as `gray/explain` takes them: `key=value`, separated by commas.',
          ),
          lastSeenMs: Json.time('When its server last had contact with it, epoch milliseconds.'),
          via: Json.words(
            ['poll', 'stream'],
            'How it learns of changes: by long polls over HTTP, or over gRPC.',
          ),
        }),
      ),
    ),
    missingServers: Json.list(Json.string('A server that has not replied in time.')),
  }),
)

/** `GET …/console/config/watchers`: who has an item. */
export function watchersEndpoint({ listening, gray }: Pick<Operations, 'listening' | 'gray'>): Endpoint {
  return endpoint({
    summary:
      'Lists the clients that watch an item, or have polled for it in the last minute, and what each has',
    permission: listening.clientsOf.permission,
    answers: answersJson(WATCHERS),
    params: Type.Object(KEY_PARAMS),
    handle: async ({ params, caller }) => {
      const key = toConfigKey(params)
      const { value, missing } = await listening.clientsOf(key, caller)
      const watchers = watchersJson(value, gray.of({ key }, caller))
      return withMissing(jsonAnswer({ ...watchers, missingServers: missing }), missing)
    },
  })
}

function watchersJson({ md5, nowMs, clients }: ItemClients, versions: readonly GrayVersion[]): object {
  const watchers = clients.map((client) => {
    return watcherJson(client, whatClientHas(client, versions), nowMs)
  })
  const withOne = (has: ClientHas): number => watchers.filter((watcher) => watcher.has === has).length
  const shares = Object.fromEntries(CLIENT_HAS.map((has) => [has, withOne(has)]))
  const upToDate = watchers.filter((watcher) => watcher.upToDate).length
  return { md5: md5 ?? null, upToDate, count: watchers.length, shares, watchers }
}

function watcherJson({ ip, client, md5, seen, seenAgoMs, via }: ItemClient, has: ClientHas, nowMs: number) {
  return {
    ip,
    port: client?.port ?? null,
    agent: client?.agent ?? '',
    md5,
    upToDate: has === 'gray' || has === 'formal',
    has,
    grayName: seen.gray ?? null,
    ruleIp: seen.ip,
    ruleTag: seen.tag ?? '',
    ruleLabels: labelsText(seen.labels ?? {}),
    lastSeenMs: Math.round(nowMs - seenAgoMs),
    via,
  }
}
