import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Operations } from '../../../../operations/operations.ts'
import type { ItemClient } from '../../../../core/clients/client-views.ts'
import { matches } from '../../../../core/config/state/config-view.ts'
import type { GrayVersion } from '../../../../core/config/state/gray-version.ts'
import type { ItemClients } from '../../../../operations/config/config-listening.ts'
import { CLIENT_HAS, type ClientHas, whatClientHas } from '../../../../operations/console/client-has.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import {
  GRAY_RELEASE_PARAMS,
  grayExpression,
  type GrayReleaseParams,
  toGrayRule,
} from '../../../parameters/gray-params.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/publish-params.ts'
import { labelsText } from '../../../parameters/label-texts.ts'

const WATCHERS = Json.named(
  'Watchers',
  Json.object({
    md5: Json.nullable(Json.string('The md5 of the formal version; null where there is none.')),
    upToDate: Json.integer('How many clients have the version that is for them.'),
    matching: Json.nullable(
      Json.integer('How many clients the named rule is for; null: none was named, or nobody can tell.'),
    ),
    count: Json.integer(),
    nowMs: Json.time('The clock of the server, for the times of watchers.'),
    shares: Json.named(
      'WatcherShares',
      Json.object({
        gray: Json.integer('Clients that have the gray version that is for them.'),
        formal: Json.integer('Clients that have the formal version, which is for them.'),
        behind: Json.integer('Clients that have another text than the one that is for them.'),
        away: Json.integer('Clients whose poll was answered and that have not come back.'),
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
          md5: Json.string('The md5 that the client has; empty: no item.'),
          upToDate: Json.boolean(),
          has: Json.words(
            CLIENT_HAS,
            'The version that is for it, a gray one or the formal one; another text; not come back; or nobody can tell.',
          ),
          grayName: Json.nullable(
            Json.string('The gray version that is for the client; null: the formal one.'),
          ),
          ruleIp: Json.string('The address by which rules of gray versions know the client.'),
          ruleTag: Json.string('Its tag; empty: none.'),
          ruleLabels: Json.string(
            'Its labels, as `gray/explain` takes them: `key=value`, separated by commas.',
          ),
          listens: Json.boolean('Whether it listens now: its poll is held, or its connection is there.'),
          lastSeenMs: Json.time(
            'When something last came from it, e.g. the poll that is held; or when its poll was answered.',
          ),
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
    params: Type.Object({ ...KEY_PARAMS, ...RULE_PARAMS }),
    handle: async ({ params, caller }) => {
      const key = toConfigKey(params)
      const { value, missing } = await listening.clientsOf(key, caller)
      const versions = gray.of({ key }, caller)
      const matching = await matchingOf(value.clients, releaseOf(params, versions))
      const watchers = { ...watchersJson(value, versions), matching }
      return withMissing(jsonAnswer({ ...watchers, missingServers: missing }), missing)
    },
  })
}

/** A rule that somebody is about to publish. */
const RULE_PARAMS = {
  grayType: Type.Optional(GRAY_RELEASE_PARAMS.grayType),
  grayMatchRuleExp: Type.Optional(grayExpression),
  grayName: Type.Optional(
    Type.String({ maxLength: 128, description: 'The version that gets the rule: a share depends on it.' }),
  ),
}

type NamedRule = Partial<Pick<GrayReleaseParams, 'grayType' | 'grayMatchRuleExp' | 'grayName'>>

/** A release with the named rule. Undefined: none is named, or a share of a release that has not begun. */
function releaseOf(
  { grayType, grayMatchRuleExp, grayName }: NamedRule,
  versions: readonly GrayVersion[],
): Pick<GrayVersion, 'id' | 'rule'> | undefined {
  if (grayType === undefined || grayMatchRuleExp === undefined) return undefined
  const rule = toGrayRule({ grayType, grayMatchRuleExp })
  const version = versions.find(({ name }) => name === grayName)
  return grayType === 'percent' && version === undefined ? undefined : { id: version?.id ?? 0, rule }
}

/** How many clients are looked at in one turn of the loop: a rule of labels may have many conditions. */
const LOOKED_AT = 1_000

async function matchingOf(
  clients: readonly ItemClient[],
  release: Pick<GrayVersion, 'id' | 'rule'> | undefined,
): Promise<number | null> {
  if (release === undefined) return null
  let count = 0
  for (const [at, { seen }] of clients.entries()) {
    if (at % LOOKED_AT === LOOKED_AT - 1) await othersTurn()
    const { ip, tag, labels = {} } = seen
    if (matches(release, { ip, tag, labels: new Map(Object.entries(labels)) })) count++
  }
  return count
}

function watchersJson({ md5, nowMs, clients }: ItemClients, versions: readonly GrayVersion[]): object {
  const watchers = clients.map((client) => {
    return watcherJson(client, whatClientHas(client, versions), nowMs)
  })
  const withOne = (has: ClientHas): number => watchers.filter((watcher) => watcher.has === has).length
  const shares = Object.fromEntries(CLIENT_HAS.map((has) => [has, withOne(has)]))
  const upToDate = watchers.filter((watcher) => watcher.upToDate).length
  return { md5: md5 ?? null, upToDate, count: watchers.length, nowMs, shares, watchers }
}

function watcherJson(of: ItemClient, has: ClientHas, nowMs: number) {
  const { ip, client, md5, seen, seenAgoMs, isAway, via } = of
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
    listens: isAway === undefined,
    lastSeenMs: Math.round(nowMs - seenAgoMs),
    via,
  }
}
