import { Refusal } from '../../../core/refusal.ts'
import { EtcdError, type EtcdErrorKind } from '@waypost/etcd-client/etcd-error'
import { SlowContents } from '../contents/chunks.ts'
import { GRPC, GrpcError } from '@waypost/etcd-client/grpc-error'
import { PlaceTaken } from './place-taken.ts'
import { ALARM_ADVICE, ALARM_RAISED, CORRUPT_RAISED } from '../space/space.ts'

/** The result of a call of etcd; its errors become refusals. */
export async function asRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw refusalOf(error)
  }
}

/** The result of a call of etcd. If etcd is full, the error says so in words; other errors stay as they are. */
export async function sayingIfFull<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof EtcdError && error.kind === 'full' ? refusalOf(error) : error
  }
}

const TEXTS: Partial<Record<EtcdErrorKind, string>> = {
  denied: 'etcd does not let this server do that: an operator finds the reason in its log.',
  untrusted: 'etcd does not let this server in: an operator finds the reason in its log.',
}

/** The text of etcd's error while its alarm CORRUPT is raised. */
const CORRUPT = 'corrupt cluster'

/** Says "does not answer" for a member that was asked, and "cannot be reached" for others. */
function textOfAway({ cause, message }: EtcdError): string {
  if (message.includes(CORRUPT)) return CORRUPT_RAISED
  const isLate = cause instanceof GrpcError && cause.code === GRPC.DEADLINE_EXCEEDED
  return `etcd ${isLate ? 'does not answer in time' : 'cannot be reached'}: try again in a moment.`
}

/** The error that callers get for an error of etcd. */
export function refusalOf(error: unknown): Error {
  if (error instanceof PlaceTaken) return new Refusal('store-unavailable', error.message, { cause: error })
  if (error instanceof EtcdError && error.kind === 'invalid') return error
  if (!(error instanceof EtcdError)) return error instanceof Error ? error : new Error(String(error))
  if (error.kind === 'full')
    return new Refusal('store-full', `${ALARM_RAISED} ${ALARM_ADVICE}`, {
      cause: error,
      retryAfterSeconds: 5,
    })
  const isOwn = error instanceof SlowContents || error.kind === 'store-empty'
  const text = isOwn ? error.message : (TEXTS[error.kind] ?? textOfAway(error))
  return new Refusal('store-unavailable', text, { cause: error })
}
