import { GRPC, GrpcError } from './grpc-error.ts'

/** The kinds of failures of a call of etcd. */
export type EtcdErrorKind =
  /** No member could do it in time. It can be tried again, if it is not in doubt. */
  | 'unavailable'
  /** The revision that was asked for is no longer stored. */
  | 'compacted'
  /** etcd accepts data again only after space was made. */
  | 'full'
  /** The lease has ended. */
  | 'no-lease'
  /** etcd does not let this user do it. */
  | 'denied'
  /** etcd or this client cannot prove its identity: a certificate, the user or the password is wrong. Never in doubt. */
  | 'untrusted'
  /** It can never succeed: too large, too many operations, a key twice. */
  | 'invalid'
  /** This version of etcd cannot be used. */
  | 'unsupported'
  /** The data are gone, or are those of another installation. Nothing was changed. */
  | 'store-empty'

/** A call of etcd failed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError'
  readonly kind: EtcdErrorKind
  /** True if the call may have changed data, or may do so still. */
  readonly inDoubt: boolean

  constructor(
    kind: EtcdErrorKind,
    message: string,
    { inDoubt = false, cause }: { inDoubt?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.kind = kind
    this.inDoubt = inDoubt
  }
}

/** Refusals of etcd that are more exact than their codes, by a part of their text. */
const BY_TEXT: readonly (readonly [text: string, kind: EtcdErrorKind])[] = [
  ['has been compacted', 'compacted'],
  ['database space exceeded', 'full'],
  ['lease not found', 'no-lease'],
  // Both are refused before anything is done.
  ['etcdserver: no leader', 'unavailable'],
  ['etcdserver: too many requests', 'unavailable'],
  ['larger than max', 'invalid'],
  ['permission denied', 'denied'],
  ['user name is empty', 'denied'],
]

/** Advice for operators about a refusal, by a part of its text. */
const ADVICE: readonly (readonly [text: string, advice: string])[] = [
  ['permission denied', 'the user of etcd-user needs a role that may read and write all keys of etcd-prefix'],
  ['user name is empty', 'etcd asks who calls: set etcd-user and etcd-password-file'],
]

const BY_CODE: Readonly<Record<number, EtcdErrorKind>> = {
  [GRPC.INVALID_ARGUMENT]: 'invalid',
  [GRPC.OUT_OF_RANGE]: 'invalid',
  [GRPC.PERMISSION_DENIED]: 'denied',
  [GRPC.UNAUTHENTICATED]: 'denied',
}

/** The failure of a call that was sent. A change that etcd has not certainly refused is in doubt. */
export function toEtcdError(reason: unknown): EtcdError {
  if (reason instanceof EtcdError) return reason
  const error = reason instanceof GrpcError ? reason : new GrpcError(GRPC.UNKNOWN, String(reason))
  const advice = ADVICE.find(([text]) => error.message.includes(text))?.[1]
  const message = `etcd: ${error.message}${advice === undefined ? '' : ` (${advice})`}`
  const refused = BY_TEXT.find(([text]) => error.message.includes(text))?.[1] ?? BY_CODE[error.code]
  if (refused !== undefined) return new EtcdError(refused, message, { cause: reason })
  return new EtcdError('unavailable', message, { inDoubt: !error.notBegun, cause: reason })
}
