import type { Refusal } from '../../../core/refusal.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'
import { knownText, REFUSALS } from '../../refusals/refusals.ts'

/** The codes of errors of the message or its connection. */
export const TRANSPORT = {
  notServing: 300,
  notSetUp: 301,
  unknownType: 302,
  unreadable: 502,
  overLimit: 503,
} as const

/** An error as a client gets it. */
export interface SentError {
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
