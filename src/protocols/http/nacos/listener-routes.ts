import { Type } from '../../parameters/schema.ts'
import { toNamespaceId, toTenant } from '../../../core/namespace-id.ts'
import { ReadyAnswer } from '../routing/answer-headers.ts'
import { csJsonAnswer, JSON_UTF8 } from '../routing/answers.ts'
import { KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import { READ_CONFIG } from '../endpoints/config/config-parts.ts'
import {
  listen,
  listenerHeaders,
  type ListenerManners,
  type ListenerParts,
  tellingNames,
  MAX_LISTEN_BODY_BYTES,
} from '../endpoints/config/listener.ts'
import { LISTENING_CONFIGS, type WatchedItem } from '../endpoints/config/listening-configs.ts'
import * as fields from '../../parameters/fields.ts'
import { operation, placeRoutes } from '../routing/operation.ts'
import type { Answer, Route } from '../routing/route.ts'
import { CONFIG_MANNERS, NO_CACHE } from './config-manners.ts'
import { probeHeaders } from './probe-headers.ts'

/** Long polls of `/nacos/v1`, and who holds them (http-compat.md section 2). */
export function nacosListenerRoutes(parts: ListenerParts): Route[] {
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/cs', [
    ['POST', '/configs/listener', wait(parts)],
    ['GET', '/configs/listener', watchersOfItem(parts)],
    ['GET', '/listener', watchedByAddress(parts)],
  ])
}

function wait(parts: ListenerParts) {
  return operation({
    summary: 'Waits until a watched item differs',
    permission: READ_CONFIG,
    params: Type.Object({ [LISTENING_CONFIGS]: fields.listeningConfigs }),
    headers: listenerHeaders(false),
    maxBodyBytes: MAX_LISTEN_BODY_BYTES,
    handle: (request) => listen(request, parts, MANNERS),
  })
}

const NOTHING: Answer = new ReadyAnswer(pollAnswer(''))
const tellNames = tellingNames((names) => pollAnswer(`${names}\n`))

const MANNERS: ListenerManners = {
  tell: (changed) => (changed.length === 0 ? NOTHING : tellNames(changed)),
  tellWithoutTimeout: (changed) => {
    return { ...NOTHING, headers: { ...NO_CACHE, ...probeHeaders(changed) } }
  },
}

function pollAnswer(body: string): Answer {
  return { status: 200, contentType: JSON_UTF8, body, headers: NO_CACHE, isAscii: true }
}

function watchersOfItem({ polls }: ListenerParts) {
  return operation({
    summary: 'Tells which addresses watch an item, and the md5 that each has',
    permission: READ_CONFIG,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params }) => watchAnswer(polls.watchersOf(toConfigKey(params))),
  })
}

function watchedByAddress({ polls }: ListenerParts) {
  return operation({
    summary: 'Tells which items of a namespace an address watches, and the md5 that it has of each',
    permission: READ_CONFIG,
    params: Type.Object({
      ip: Type.String({ maxLength: 128, description: 'The address of the client.' }),
      tenant: Type.Optional(fields.tenant),
      all: Type.Optional(Type.Boolean({ description: 'The items of every namespace.' })),
    }),
    handle: ({ params }) => {
      const namespaceId = toNamespaceId(params.tenant)
      const asked = (item: WatchedItem) => params.all === true || item.key.namespaceId === namespaceId
      return watchAnswer(
        polls
          .watchedBy(params.ip)
          .filter(asked)
          .map((item) => [nameOf(item), item.md5]),
      )
    },
  })
}

/** `dataId+group`, and `+tenant` outside the default namespace. */
function nameOf({ key }: WatchedItem): string {
  const tenant = toTenant(key.namespaceId)
  return [key.dataId, key.group, ...(tenant === '' ? [] : [tenant])].join('+')
}

/** The field's name is what tools look for. */
function watchAnswer(md5ByName: Iterable<readonly [string, string]>): Answer {
  return csJsonAnswer({ collectStatus: 200, lisentersGroupkeyStatus: Object.fromEntries(md5ByName) })
}
