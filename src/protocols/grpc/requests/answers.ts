import { keysOfRefused, type ServerMessage, toSend } from '../wire/payload.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'
import { knownText, REFUSALS } from '../../refusals/refusals.ts'

/** A successful answer. `requestId` comes from the request; undefined if it had none. */
export function answered(type: string, requestId: string | undefined, own: object): ServerMessage {
  return toSend(type, { resultCode: 200, errorCode: 0, success: true, requestId }, own)
}

/**
 * A 'no' in the answer type of the request, or `ErrorResponse` where it concerns the connection. `own`: further fields;
 * fields that Java always writes are added.
 */
export function refused(
  type: string,
  requestId: string | undefined,
  error: SentError & { readonly own?: object },
): ServerMessage {
  return toSend(
    type,
    { resultCode: 500, errorCode: error.errorCode, success: false, requestId },
    { message: error.message, ...keysOfRefused(type), ...error.own },
  )
}

/** The codes of errors of the message or its connection. */
export const TRANSPORT = {
  notServing: 300,
  notSetUp: 301,
  unknownType: 302,
  unreadable: 502,
  overLimit: 503,
} as const

/** An error as a client gets it. */
interface SentError {
  readonly errorCode: number
  readonly message: string
}

/** A refusal as a client gets it. */
export function sentError(refusal: Refusal): SentError {
  const { http, grpc = http } = REFUSALS[refusal.code]
  const checked = refusal.code === 'invalid-parameter' ? javaParamCheck(refusal.facts) : undefined
  const message = checked === undefined ? knownText(refusal) : `Param check invalid:${checked}`
  return { errorCode: grpc, message }
}
