import { Type } from '../../parameters/schema.ts'
import { ReadyAnswer } from '../routing/answer.ts'
import { csJsonAnswer, JSON_UTF8 } from '../routing/answers.ts'
import {
  answersOfNames,
  listen,
  listenerHeaders,
  type ListenerParts,
  type PollAnswers,
  MAX_LISTEN_BODY_BYTES,
  watchingEndpoints,
} from '../endpoints/config/listener.ts'
import { LISTENING_CONFIGS } from '../endpoints/config/listening-configs.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes, type Route, type Answer } from '../routing/route.ts'
import { CONFIG_DEFAULTS, NO_CACHE } from './config-defaults.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'

/** Long polls of `/nacos/v1`, and who holds them (http-compat.md section 2). */
export function nacosListenerRoutes(parts: ListenerParts): Route[] {
  const watching = watchingEndpoints(parts.listening, csJsonAnswer)
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['POST', '/configs/listener', wait(parts)],
    ['GET', '/configs/listener', watching.watchersOf],
    ['GET', '/listener', watching.watchedBy],
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

/** The most bytes of both headers: clients refuse an answer whose headers have more than 16 KiB. */
const MAX_PROBE_BYTES = 8 * 1024

/**
 * The headers that report differences to a client that sent no time-out: `dataId:group;` each for the oldest clients,
 * the encoded names for later ones. Items that do not fit are reported next time.
 */
function probeHeaders(changed: readonly WatchedItem[]): Record<string, string> {
  let oldest = ''
  let encoded = ''
  for (const { key, echo } of changed) {
    const short = `${encodeURIComponent(key.dataId)}:${encodeURIComponent(key.group)};`
    const name = encodeURIComponent(echo)
    if (oldest.length + encoded.length + short.length + name.length > MAX_PROBE_BYTES) break
    oldest += short
    encoded += name
  }
  return { 'Probe-Modify-Response': oldest, 'Probe-Modify-Response-New': encoded }
}
