import { Refusal } from '../../../core/refusal.ts'
import { JSON_TYPE, JSON_UTF8, TEXT } from '../routing/answers.ts'
import { nacosMessage } from './nacos-messages.ts'
import type { ErrorContext, ErrorFormat } from '../routing/route.ts'
import type { Answer } from '../routing/answer.ts'
import { knownText, REFUSALS } from '../../refusals/refusals.ts'
import { headersOfRefusal } from '../errors/problem.ts'

/**
 * Errors of the configuration, console and core part of `/nacos`: `caused: MSG;` (http-compat.md section 0).
 * Statuses follow the meaning. The Java server answers 500 to a missing parameter and the like, and clients
 * retry a 500 three times before they give up.
 */
export const configErrors: ErrorFormat = (error, context) => {
  if (!(error instanceof Refusal)) return plain(500, `caused: ${faultText(context)};`)
  switch (error.code) {
    case 'forbidden':
    case 'not-signed-in':
    case 'unknown-user':
    case 'token-invalid':
    case 'token-expired':
      return shaped(error, context, { error: 'Forbidden', message: knownText(error) })
    case 'config-not-found':
      return { status: 404, contentType: JSON_UTF8, body: `${knownText(error)}\n` }
    case 'history-not-yours':
      return plain(403, 'Please check dataId and group.')
    case 'config-changed':
      return plain(409, `caused: ${knownText(error)};`)
    case 'missing-parameter':
      return plain(400, `caused: ${missingText(error)};`)
    case 'user-not-found':
    case 'role-not-found':
      return plain(400, `caused: ${nacosMessage(error, 'config')};`)
    case 'unknown-path':
      return shaped(error, context, { error: 'Not Found', message: 'No message available' })
    case 'unknown-method':
      return plain(405, `caused: Request method '${context.method}' not supported;`, headersOfRefusal(error))
    default:
      return plain(
        REFUSALS[error.code].http,
        `caused: ${nacosMessage(error, 'config')};`,
        headersOfRefusal(error),
      )
  }
}

/** Errors of the naming part of `/nacos`: the plain message (http-compat.md section 0, 2.x). */
export const namingErrors: ErrorFormat = (error, context) => {
  if (!(error instanceof Refusal)) return plain(500, faultText(context))
  switch (error.code) {
    case 'forbidden':
    case 'not-signed-in':
    case 'unknown-user':
    case 'token-invalid':
    case 'token-expired':
      return shaped(error, context, { error: 'Forbidden', message: knownText(error) })
    case 'missing-parameter':
      return plain(400, `Param '${error.facts.parameter ?? ''}' is required.`)
    case 'unknown-path':
    case 'unknown-method': {
      const name = error.code === 'unknown-path' ? 'Not Found' : 'Method Not Allowed'
      return shaped(error, context, { error: name, message: `no such api:${context.method}:${context.path}` })
    }
    default:
      return plain(REFUSALS[error.code].http, nacosMessage(error, 'naming'), headersOfRefusal(error))
  }
}

function missingText({ facts }: Refusal): string {
  return `Required request parameter '${facts.parameter ?? ''}' for method parameter type String is not present`
}

function faultText({ requestId }: ErrorContext): string {
  return `internal error of this server, see its log for request ${requestId}`
}

/** The JSON shape of answers about unknown paths and missing permissions. */
function shaped(refusal: Refusal, context: ErrorContext, texts: { error: string; message: string }): Answer {
  const status = REFUSALS[refusal.code].http
  const timestamp = new Date().toISOString().replace('Z', '+00:00')
  const body = JSON.stringify({ timestamp, status, ...texts, path: context.path })
  return { status, contentType: JSON_TYPE, body, headers: headersOfRefusal(refusal) }
}

function plain(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return { status, contentType: TEXT, body, headers }
}
