import { Refusal, type RefusalCode } from '../../../core/refusal.ts'
import { REFUSALS } from '../../refusals/refusals.ts'
import { headersOfRefusal } from '../errors/problem.ts'
import type { ErrorFormat } from '../routing/route.ts'
import type { Answer } from '../routing/answer.ts'
import { type EnvelopeCode, failure, NO_INSTANCE, NOT_FOUND, SERVER_ERROR } from './envelope.ts'

const PARAMETER_INVALID: EnvelopeCode = [20002, 'parameter validate error']
const ACCESS_DENIED: EnvelopeCode = [10001, 'access denied']
const CONFLICT: EnvelopeCode = [20005, 'resource conflict']

/** Refusals that have a number of their own. */
const OWN: Partial<Record<RefusalCode, EnvelopeCode>> = {
  'missing-parameter': [10000, 'parameter missing'],
  'gray-too-many': [20010, 'gray config version is over max count'],
  'gray-rule': [20011, 'gray config rule format invalid'],
  'instance-not-found': NO_INSTANCE,
  'service-exists': [21007, 'service already exist'],
  'service-not-found': [21008, 'service not exist'],
  'namespace-not-found': [22001, 'namespace not exist'],
}

/** The code of a refusal of this status without a number of its own. */
function usual(status: number): EnvelopeCode {
  if (status === 403) return ACCESS_DENIED
  if (status === 404) return NOT_FOUND
  if (status === 409) return CONFLICT
  return status < 500 ? PARAMETER_INVALID : SERVER_ERROR
}

/** Errors of `/nacos/v2` and `/nacos/v3`: `{code, message, data}`, where `data` says what was wrong. */
export const envelopedErrors: ErrorFormat = (error, { method, path, requestId }) => {
  if (!(error instanceof Refusal))
    return failure(500, SERVER_ERROR, `A fault of this server: see its log for request ${requestId}.`)
  const status = REFUSALS[error.code].http
  const code = OWN[error.code] ?? usual(status)
  if (error.code !== 'unknown-path') return withHeaders(failure(status, code, error.message), error)
  const data = `This server has no ${method} ${path}. docs/compatibility.md lists what it has; /nacos/v1 has the rest.`
  return failure(status, code, data)
}

function withHeaders(answer: Answer, refusal: Refusal): Answer {
  return { ...answer, headers: headersOfRefusal(refusal) }
}
