import { keysOfRefused } from '../wire/java-messages.ts'
import { type ServerMessage, toSend } from '../wire/payload.ts'
import type { SentError } from './error-codes.ts'

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
