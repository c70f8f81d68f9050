import { USER, type CredentialProblem, problemOf } from '../../core/access/access-records.ts'
import type { Identity } from '../../core/access/identity.ts'
import type { Rights } from '../../core/access/rights.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Action, Resource } from '../guard.ts'
import { type Caller, type Authorisation, forbidden } from '../authorisation.ts'

/** Reports, in dry-run mode, the refusal that the caller would have got. */
export type ReportRefusal = (caller: Caller, action: Action, resource: Resource) => void

interface JudgeParts {
  readonly state: Pick<State, 'record' | 'records'>
  readonly rightsOf: (username: string) => Rights
  /** Epoch ms. */
  readonly nowMs: () => number
  /** Set while nobody is refused yet: called for each caller who would be (`auth=report`). */
  readonly reportOnly: ReportRefusal | undefined
}

/**
 * Decides whether a caller has valid credentials and a permission. Both are read from the state each time, so a change
 * by an administrator counts from the next request on.
 */
export class Judge implements Authorisation {
  readonly isOn = true
  readonly #parts: JudgeParts

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  allows(caller: Caller, action: Action, resource: Resource): boolean {
    const { reportOnly } = this.#parts
    const isAllowed = this.#isAllowed(caller.identity, action, resource)
    // Users are managed by administrators also while nobody else is refused: see `OPEN` in guard.ts.
    if (isAllowed || reportOnly === undefined || resource.kind === 'access') return isAllowed
    reportOnly(caller, action, resource)
    return true
  }

  shows({ identity }: Caller, action: Action, resource: Resource): boolean {
    return this.#parts.reportOnly !== undefined || this.#isAllowed(identity, action, resource)
  }

  refused(caller: Caller, action: Action, resource?: Resource): Refusal {
    return this.#problemAsRefusal(caller.identity) ?? forbidden(caller, action, resource)
  }

  /** Why somebody of this identity may not ask for anything; undefined if it counts, or nobody is refused. */
  refusalOf(identity: Identity): Refusal | undefined {
    return this.#parts.reportOnly === undefined ? this.#problemAsRefusal(identity) : undefined
  }

  /** Why the credentials of a caller do not count now; undefined where they do. */
  problemOf(identity: Identity): CredentialProblem | undefined {
    return problemOf(identity, this.#parts.state, this.#parts.nowMs())
  }

  /** Whether the user is there and may do this, whatever it signs in with. */
  mayUser(username: string, action: Action, resource: Resource): boolean {
    const isThere = this.#parts.state.record(USER, username) !== undefined
    return isThere && this.#parts.rightsOf(username).allows(action, resource)
  }

  #problemAsRefusal(identity: Identity): Refusal | undefined {
    const problem = this.problemOf(identity)
    return problem === undefined ? undefined : new Refusal(problem, SENTENCE_OF[problem])
  }

  #isAllowed(identity: Identity, action: Action, resource: Resource): boolean {
    if (identity.kind !== 'user' || this.problemOf(identity) !== undefined) return false
    return this.#parts.rightsOf(identity.username).allows(action, resource)
  }
}

const SENTENCE_OF: Readonly<Record<CredentialProblem, string>> = {
  'not-signed-in': 'Sign in first: POST /svc/v1/auth/login answers a token for the header Authorization.',
  'unknown-user': 'No user has this name and password.',
  'token-invalid': 'The token does not count, or not any longer: sign in again.',
  'token-expired': 'The token or the session has expired: sign in again.',
}
