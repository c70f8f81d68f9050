import { Type, SVC_RULES } from '../../parameters/schema.ts'
import { Refusal } from '../../../core/refusal.ts'
import { EMPTY_TEXT, jsonAnswer, textAnswer, answersText } from '../routing/answers.ts'
import {
  answersOfNames,
  listen,
  listenerHeaders,
  type ListenerParts,
  type PollAnswers,
  MAX_LISTEN_BODY_BYTES,
  TIMEOUT_ALLOWED,
  TIMEOUT_HEADER,
  watchingEndpoints,
} from '../endpoints/config/listener.ts'
import { LISTENING_CONFIGS } from '../endpoints/config/listening-configs.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { problemErrors } from '../errors/problem.ts'

/** `/svc/v1/cs/configs/listener`: waiting for changes, and the list of watchers. */
export function svcListenerRoutes(parts: ListenerParts): Route[] {
  const wait = endpoint({
    summary: `Waits until a watched item differs, at most as long as the header ${TIMEOUT_HEADER} says`,
    permission: parts.listening.poll.permission,
    answers: answersText(
      'The items that differ: dataId ^2 group [^2 tenant] ^1 each, percent-encoded; empty: none.',
    ),
    params: Type.Object({ [LISTENING_CONFIGS]: fields.listeningConfigs }),
    headers: listenerHeaders(true),
    maxBodyBytes: MAX_LISTEN_BODY_BYTES,
    handle: (request) => listen(request, parts, POLL_ANSWERS),
  })
  const watching = watchingEndpoints(parts.listening, (value) => jsonAnswer(value))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['POST', '/configs/listener', wait],
    ['GET', '/configs/listener', watching.watchersOf],
    ['GET', '/listener', watching.watchedBy],
  ])
}

const answerNames = answersOfNames(textAnswer)

const POLL_ANSWERS: PollAnswers = {
  of: (changed) => (changed.length === 0 ? EMPTY_TEXT : answerNames(changed)),
  withoutTimeout: () => {
    const message = `The header ${TIMEOUT_HEADER} is required: ${TIMEOUT_ALLOWED}.`
    const facts = { parameter: TIMEOUT_HEADER, allowed: TIMEOUT_ALLOWED }
    throw new Refusal('missing-parameter', message, facts)
  },
}
