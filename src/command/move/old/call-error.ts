/** A call of an old server failed. The message names the call and the reason. */
export class CallError extends Error {
  /** 0: no answer, or no sign-in, so other calls will fail too. */
  readonly status: number
  /** The server shows it only to signed-in users, and no account was given. */
  readonly needsSignIn: boolean

  constructor(message: string, status: number, needsSignIn = false) {
    super(message)
    this.status = status
    this.needsSignIn = needsSignIn
  }
}
