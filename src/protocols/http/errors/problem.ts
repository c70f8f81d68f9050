import { Refusal } from '../../../core/refusal.ts'
import { PROBLEM_JSON } from '../routing/answers.ts'
import type { ErrorContext, ErrorFormat, Answer } from '../routing/route.ts'
import { REFUSALS } from '../../refusals/refusals.ts'

/** Problem details (RFC 9457), the error format of `/svc`. `type` is stable; programs may switch on it. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly parameter?: string
  readonly allowed?: string
  /** The request id of an error of ours, to find it in the log. */
  readonly instance?: string
}

/** The error format of `/svc`. For a fault of the server it gives only the request id. */
export const problemErrors: ErrorFormat = (error, context) =>
  error instanceof Refusal ? refusalAnswer(error) : faultAnswer(context)

function refusalAnswer(refusal: Refusal): Answer {
  return problemAnswer(refusalProblem(refusal), headersOfRefusal(refusal))
}

/** A refusal as a problem. */
export function refusalProblem({ code, message, facts }: Refusal): Problem {
  return {
    type: problemType(code),
    title: REFUSALS[code].title,
    status: REFUSALS[code].http,
    detail: message,
    ...(facts.parameter === undefined ? {} : { parameter: facts.parameter }),
    ...(facts.allowed === undefined ? {} : { allowed: facts.allowed }),
  }
}

function faultAnswer({ requestId }: ErrorContext): Answer {
  return problemAnswer({
    type: problemType('internal'),
    title: 'A fault of this server',
    status: 500,
    detail:
      'The request could not be carried out, by a fault of this server. Its log tells more under the instance id.',
    instance: `urn:uuid:${requestId}`,
  })
}

/** The `type` of a problem: a name, not an address. */
export function problemType(code: string): string {
  return `urn:waypost:problem:${code}`
}

function problemAnswer(problem: Problem, headers: Record<string, string> = {}): Answer {
  return { status: problem.status, contentType: PROBLEM_JSON, body: JSON.stringify(problem), headers }
}

/** The further headers of a refusal's answer. */
export function headersOfRefusal({ code, facts }: Refusal): Record<string, string> {
  const { allowed, retryAfterSeconds } = facts
  if (code === 'unknown-method' && allowed !== undefined) return { Allow: allowed }
  return retryAfterSeconds === undefined ? {} : { 'Retry-After': `${retryAfterSeconds}` }
}
