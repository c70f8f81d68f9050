/** Calls `next` with what a command came to, at once where nothing had to be waited for. */
export function andThen<T, R>(outcome: T | Promise<T>, next: (outcome: T) => R): R | Promise<R> {
  return outcome instanceof Promise ? outcome.then(next) : next(outcome)
}
