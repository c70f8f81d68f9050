import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import { shown } from '../../../core/text/shown.ts'
import { typeIn } from '../../parameters/multipart.ts'
import type { Route } from '../routing/route.ts'
import type { CompiledRoute } from '../routing/router.ts'
import { TEXT_TYPES } from '../routing/text-body.ts'
import { hasBody } from './request-body.ts'

/**
 * How the body of a request is read. `none`: there is none, or it stays unread. `known-form`: a form whose fields must be
 * known. `raw`: the handler gets it. `text`: it is the value of one parameter. `refused`: its type is not read, so that not
 * one byte of it may come.
 */
export type BodyKind = 'none' | 'form' | 'known-form' | 'multipart' | 'raw' | 'text' | 'refused'

/** The kind of the body, by the head of its request. Throws a Refusal where the body is not empty and its type is not read. */
export function bodyKindOf(request: IncomingMessage, compiled: CompiledRoute): BodyKind {
  const { route, readsBody } = compiled
  const others = route.rules.otherBodies
  if (!(readsBody || others === 'refused') || !hasBody(request)) return 'none'
  const { 'content-type': type, 'content-encoding': coding = 'identity' } = request.headers
  if (others === 'refused' && !/^(?:identity)?$/i.test(coding)) throw packed(coding)
  if (route.body === 'raw') {
    if (others === 'refused' && !mayBeRaw(type, route)) throw unreadType(type, compiled)
    return 'raw'
  }
  if (type === undefined || type === '' || FORM.test(type)) return readsBody ? formKind(route) : 'none'
  if (others === 'fields') return MULTIPART.test(type) ? 'multipart' : 'none'
  if (route.textParam !== undefined && TEXT.test(type)) return 'text'
  if (others !== 'refused') return 'none'
  // Whether a body without a length is empty is known once it has ended.
  if (Number(request.headers['content-length']) > 0) throw unreadType(type, compiled)
  return 'refused'
}

/** Whether a raw body may have this type. Clients that set none send a form, a text or bytes. */
function mayBeRaw(type: string | undefined, { bodyTypes }: Route): boolean {
  if (bodyTypes === undefined || type === undefined || type === '' || FORM.test(type) || TEXT.test(type))
    return true
  return Object.hasOwn(bodyTypes, (type.split(';', 1)[0] ?? '').trim().toLowerCase())
}

function formKind({ textParam }: Route): BodyKind {
  return textParam === undefined ? 'form' : 'known-form'
}

/** Whether the body is a form whose fields are parameters, and nothing else has to be judged. */
export function isPlainForm(kind: BodyKind): boolean {
  return kind === 'form' || kind === 'multipart'
}

/** Whether the body is a form of any kind, which may have the credentials of its sender. */
export function mayHaveCredentials(kind: BodyKind): boolean {
  return isPlainForm(kind) || kind === 'known-form'
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Whatever charset it claims: forms are UTF-8. */
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i
const MULTIPART = /^\s*multipart\/form-data\s*(;|$)/i
const TEXT = /^\s*(text\/plain|application\/octet-stream)\s*(;|$)/i

/** The refusal of a body that is not sent as it is. */
function packed(coding: string): Refusal {
  const message = `The body has the content-encoding ${shown(coding)}, which is not read. Send it as it is.`
  return new Refusal('malformed-request', message, { allowed: 'a body without content-encoding' })
}

/** The refusal of a body whose type is not read. */
export function unreadType(contentType: string | undefined, { route, readsBody }: CompiledRoute): Refusal {
  const texts = route.textParam === undefined ? [] : TEXT_TYPES
  const types = route.body === 'raw' ? Object.keys(route.bodyTypes ?? {}) : [FORM_TYPE, ...texts]
  const allowed = readsBody ? `a body of type ${types.join(' or ')}` : 'parameters in the query, and no body'
  const message = `The body has the type ${typeIn(contentType)}, which is not read here. Send ${allowed}.`
  return new Refusal('malformed-request', message, { allowed })
}
