/** A call of an old server failed. The message says which call, and why. */
export class CallError extends Error {
  /** 0: there was no answer, or no sign-in, so no other call will have one either. */
  readonly status: number
  /** The server shows it only to who signs in, and nobody has given an account. */
  readonly needsSignIn: boolean

  constructor(message: string, status: number, needsSignIn = false) {
    super(message)
    this.status = status
    this.needsSignIn = needsSignIn
  }
}
