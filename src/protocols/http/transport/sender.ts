import type { Identity } from '../../../core/access/identity.ts'
import type { Refusal } from '../../../core/refusal.ts'
import type { HttpCaller, Route } from '../routing/route.ts'
import { type BodyKind, mayHaveCredentials } from './body-kind.ts'
import { meantUser, onlyMeant } from './meant-user.ts'
import { credentialsOf, type Identification, isOpen, plainTokenOf } from './identification.ts'

/** A request up to this size costs little. It is read even if its sender does not count, so that the audit can name the item. */
const SMALL_BYTES = 16 * 1024

/** Bytes of a body that everybody may send without credentials, where others need them. */
export const MAX_OPEN_BODY_BYTES = 64 * 1024

/** A request of a sender, as far as it has arrived. */
export interface Arrived {
  readonly caller: HttpCaller
  readonly url: string
  readonly kind: BodyKind
  readonly body: Buffer | undefined
}

/** Finds out who sends a request: by its head, and if that does not say it, by its form. */
export class Sender {
  readonly #identification: Identification
  readonly #maxParameters: number
  #isSettled = false

  constructor(identification: Identification, maxParameters: number) {
    this.#identification = identification
    this.#maxParameters = maxParameters
  }

  /** Whether the head has a token or a pair: then it says who the sender is, whatever is in the form. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The identity of the sender, if it is known before any parameter is read. */
  known(caller: HttpCaller, url: string): Identity | undefined {
    const token = plainTokenOf(caller.headers, url)
    const identity = token === undefined ? undefined : this.#identification.known(token)
    if (identity !== undefined) this.#isSettled = true
    return identity
  }

  /**
   * The identity of the sender, by the parts of its request. Throws, or rejects with, a Refusal where too many try to sign in. Refusal
   * `other-user`: a page means another user than the user of its browser's cookie.
   */
  identify({ caller, url, kind, body }: Arrived, route: Route): Identity | Promise<Identity> {
    const form = mayHaveCredentials(kind) ? body : undefined
    const searched = { headers: caller.headers, url, form, maxParameters: this.#maxParameters }
    const credentials = credentialsOf(searched, route)
    this.#isSettled = credentials.token !== undefined || credentials.pair !== undefined
    const identity = this.#identification.identify(credentials, caller)
    const meant = this.#isSettled ? undefined : meantUser(caller, url)
    if (meant === undefined) return identity
    return identity instanceof Promise
      ? identity.then((one) => onlyMeant(one, meant))
      : onlyMeant(identity, meant)
  }

  /** Whether the sender may use routes that are not open to everybody. */
  counts({ identity }: HttpCaller): boolean {
    return this.#identification.counts(identity)
  }

  /** Why a request of this size is refused before it is read; undefined: it is read. */
  refusalOf(caller: HttpCaller, route: Route, bytes: number): Refusal | undefined {
    if (bytes <= SMALL_BYTES || isOpen(route) || this.counts(caller)) return undefined
    return this.refuse(caller, route)
  }

  /** The refusal of a sender who does not count. */
  refuse(caller: HttpCaller, { permission }: Route): Refusal {
    return this.#identification.refuse(caller, permission)
  }
}
