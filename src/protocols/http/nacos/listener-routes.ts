import { Type } from '../../parameters/schema.ts'
import { toNamespaceId, toTenant } from '../../../core/namespace-id.ts'
import type { WatchedItem } from '../../../core/config/watched-item.ts'
import { ReadyAnswer } from '../routing/answer-headers.ts'
import { csJsonAnswer, JSON_UTF8 } from '../routing/answers.ts'
import { KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import {
  answersOfNames,
  listen,
  listenerHeaders,
  type ListenerParts,
  type PollAnswers,
  MAX_LISTEN_BODY_BYTES,
} from '../endpoints/config/listener.ts'
import { LISTENING_CONFIGS } from '../endpoints/config/listening-configs.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Answer, Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS, NO_CACHE } from './config-defaults.ts'
import { probeHeaders } from './probe-headers.ts'

/** Long polls of `/nacos/v1`, and who holds them (http-compat.md section 2). */
export function nacosListenerRoutes(parts: ListenerParts): Route[] {
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['POST', '/configs/listener', wait(parts)],
    ['GET', '/configs/listener', watchersOfItem(parts)],
    ['GET', '/listener', watchedByAddress(parts)],
  ])
}

function wait(parts: ListenerParts) {
  return endpoint({
    summary: 'Waits until a watched item differs',
    permission: parts.listening.poll.permission,
    params: Type.Object({ [LISTENING_CONFIGS]: fields.listeningConfigs }),
    headers: listenerHeaders(false),
    maxBodyBytes: MAX_LISTEN_BODY_BYTES,
    handle: (request) => listen(request, parts, POLL_ANSWERS),
  })
}

const NOTHING: Answer = new ReadyAnswer(pollAnswer(''))
const answerNames = answersOfNames((names) => pollAnswer(`${names}\n`))

const POLL_ANSWERS: PollAnswers = {
  of: (changed) => (changed.length === 0 ? NOTHING : answerNames(changed)),
  withoutTimeout: (changed) => {
    return { ...NOTHING, headers: { ...NO_CACHE, ...probeHeaders(changed) } }
  },
}

function pollAnswer(body: string): Answer {
  return { status: 200, contentType: JSON_UTF8, body, headers: NO_CACHE, isAscii: true }
}

function watchersOfItem({ listening }: ListenerParts) {
  return endpoint({
    summary: 'The addresses that watch an item, each with its md5',
    permission: listening.watchersOf.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => watchAnswer(listening.watchersOf(toConfigKey(params), caller)),
  })
}

function watchedByAddress({ listening }: ListenerParts) {
  return endpoint({
    summary: 'The items of a namespace that an address watches, each with its md5',
    permission: listening.watchedBy.permission,
    params: Type.Object({
      ip: Type.String({ maxLength: 128, description: 'The address of the client.' }),
      tenant: Type.Optional(fields.tenant),
      all: Type.Optional(Type.Boolean({ description: 'The items of every namespace.' })),
    }),
    handle: ({ params, caller }) => {
      const namespaceId = params.all === true ? undefined : toNamespaceId(params.tenant)
      const items = listening.watchedBy({ ip: params.ip, namespaceId }, caller)
      return watchAnswer(items.map((item) => [nameOf(item), item.md5]))
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
