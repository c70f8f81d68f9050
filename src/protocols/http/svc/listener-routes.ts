import { Type } from '../schema.ts'
import { Refusal } from '../../../core/refusal.ts'
import { EMPTY_TEXT, textAnswer } from '../answers.ts'
import { READ_CONFIG } from '../config/config-parts.ts'
import {
  listen,
  type ListenerManners,
  listenerHeaders,
  type ListenerParts,
  tellingNames,
  MAX_LISTEN_BODY_BYTES,
  TIMEOUT_ALLOWED,
  TIMEOUT_HEADER,
} from '../config/listener.ts'
import { LISTENING_CONFIGS } from '../config/listening-configs.ts'
import * as fields from '../fields.ts'
import { operation, placeRoutes } from '../operation.ts'
import { SVC_RULES } from '../parameter-rules.ts'
import { problemErrors } from '../problem.ts'
import type { Route } from '../route.ts'

/** `/svc/v1/cs/configs/listener`: waiting for changes. */
export function svcListenerRoutes(parts: ListenerParts): Route[] {
  const wait = operation({
    summary: `Waits until a watched item differs, at most as long as the header ${TIMEOUT_HEADER} says`,
    permission: READ_CONFIG,
    params: Type.Object({ [LISTENING_CONFIGS]: fields.listeningConfigs }),
    headers: listenerHeaders(true),
    maxBodyBytes: MAX_LISTEN_BODY_BYTES,
    handle: (request) => listen(request, parts, MANNERS),
  })
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['POST', '/configs/listener', wait],
  ])
}

const tellNames = tellingNames(textAnswer)

const MANNERS: ListenerManners = {
  tell: (changed) => (changed.length === 0 ? EMPTY_TEXT : tellNames(changed)),
  tellWithoutTimeout: () => {
    const message = `The header ${TIMEOUT_HEADER} is required: ${TIMEOUT_ALLOWED}.`
    const facts = { parameter: TIMEOUT_HEADER, allowed: TIMEOUT_ALLOWED }
    throw new Refusal('missing-parameter', message, facts)
  },
}
