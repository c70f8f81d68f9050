/** Calls `next` with what an operation came to: at once where nothing had to be awaited, so that no promise is made. */
export function afterwards<T, R>(
  outcome: T | Promise<T>,
  next: (outcome: T) => R | Promise<R>,
): R | Promise<R> {
  return outcome instanceof Promise ? outcome.then(next) : next(outcome)
}
