/** Why a well-formed command or query is not carried out. Protocols map each code to a status and a text. */
export type RefusalCode =
  | 'forbidden'
  | 'not-signed-in'
  | 'other-user'
  | 'unknown-user'
  | 'token-invalid'
  | 'token-expired'
  | 'wrong-code'
  | 'weak-password'
  | 'sign-in-slowed'
  | 'administrator-exists'
  | 'last-administrator'
  | 'user-exists'
  | 'user-not-found'
  | 'role-not-found'
  | 'config-not-found'
  | 'config-changed'
  | 'gray-not-found'
  | 'gray-rule'
  | 'gray-too-many'
  | 'history-not-found'
  | 'history-not-yours'
  | 'service-not-found'
  | 'service-exists'
  | 'service-not-empty'
  | 'instance-not-found'
  | 'client-not-found'
  | 'instance-connected'
  | 'adding-disabled'
  | 'too-many-services'
  | 'too-many-instances'
  | 'too-many-patterns'
  | 'too-many-matches'
  | 'too-many-subscriptions'
  | 'cluster-not-found'
  | 'checker-not-none'
  | 'namespace-not-found'
  | 'switch-unknown'
  | 'invalid-parameter'
  | 'missing-parameter'
  | 'malformed-request'
  | 'unknown-transfer-coding'
  | 'bad-archive'
  | 'too-large'
  | 'too-many'
  | 'too-deep'
  | 'too-many-headers'
  | 'too-many-requests'
  | 'too-many-searches'
  | 'too-many-reads'
  | 'too-many-connections'
  | 'too-slow'
  | 'body-memory'
  | 'content-memory'
  | 'cross-site'
  | 'unknown-host'
  | 'unknown-path'
  | 'unknown-method'
  | 'server-status'
  | 'store-full'
  | 'damaged'
  | 'store-unavailable'
  | 'cut-off'
  | 'backup-refused'
  | 'backup-failed'
  | 'stopping'

/**
 * The facts of a refusal: the parameter and its allowed values, if any. `names` are the things that the refusal
 * mentions (`serviceName`, `dataId`, `cluster`…), for texts that repeat them.
 */
export interface RefusalFacts {
  readonly parameter?: string
  readonly allowed?: string
  readonly names?: Readonly<Record<string, string>>
  readonly cause?: unknown
  /** Seconds after which another try makes sense. */
  readonly retryAfterSeconds?: number
}

/** Whether the store as a whole takes no change at present: the caller is not to blame. */
export function isOfStore(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.code === 'store-unavailable' || error.code === 'store-full')
}

/**
 * An expected 'no': the request was understood and is not carried out. `message` is a full sentence for the
 * caller; statuses belong to the protocols, never to core.
 */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly facts: RefusalFacts

  constructor(code: RefusalCode, message: string, facts: RefusalFacts = {}) {
    // A stack trace says nothing that the code of a refusal does not. Computing it is a quarter of the cost
    // of an error answer.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
    this.name = 'Refusal'
    this.code = code
    this.facts = facts
  }
}
