import { Refusal, type RefusalFacts } from '../../../core/refusal.ts'
import { JSON_TYPE, JSON_UTF8, TEXT } from '../routing/answers.ts'
import type { ErrorContext, ErrorFormat, Answer } from '../routing/route.ts'
import { knownText, REFUSALS } from '../../refusals/refusals.ts'
import { headersOfRefusal } from '../errors/problem.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'

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

/** The part of `/nacos` that a message is for: some texts differ between them. */
type NacosPart = 'config' | 'naming'

/**
 * The text of a refusal that clients and operators of the Java server know (http-compat.md sections 0, 1 and
 * 4). Without one, the refusal's own sentence.
 */
export function nacosMessage(refusal: Refusal, part: NacosPart): string {
  const { code, message, facts } = refusal
  if (code === 'invalid-parameter')
    return (part === 'config' ? invalidConfig(facts) : invalidNaming(facts)) ?? message
  return filled(REFUSALS[code].nacos, facts.names) ?? message
}

/** The text with its placeholders filled in; undefined if a name is not known. */
function filled(text: string | undefined, names: RefusalFacts['names'] = {}): string | undefined {
  let isComplete = true
  const whole = text?.replace(/\{(\w+)\}/g, (_all, name: string) => {
    isComplete &&= names[name] !== undefined
    return names[name] ?? ''
  })
  return isComplete ? whole : undefined
}

function invalidConfig({ parameter, names }: RefusalFacts): string | undefined {
  const value = names?.['value']
  switch (parameter) {
    case 'dataId':
    case 'group':
    case 'tag':
      return value === undefined ? undefined : `invalid ${parameter} : ${printable(value)}`
    case 'tenant':
      return 'invalid tenant'
    case 'content':
      return names?.['size'] === undefined ? 'content is blank : ' : 'invalid content, over 10485760'
    case 'pageNo':
    case 'pageSize':
      return 'pageNo and pageSize must be greater than zero'
    default:
      return undefined
  }
}

function invalidNaming(facts: RefusalFacts): string | undefined {
  const { parameter, names } = facts
  if (parameter === 'clusterName' || parameter === 'beat.cluster') return `${javaParamCheck(facts)}\r\n`
  if (names?.['value'] === undefined) return undefined
  const value = printable(names['value'])
  switch (parameter) {
    case 'weight':
      return `instance format invalid: The weights range from 0.0 to 10000.0, current: ${value}`
    case 'metadata':
      return `metadata format incorrect:${value}`
    default:
      return undefined
  }
}

/** A client's value on one line of text. */
function printable(value: string): string {
  return value.slice(0, 64).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
}
