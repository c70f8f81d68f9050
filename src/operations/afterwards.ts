/** Calls `next` with the result of an operation, without making a promise if the result is there. */
export function afterwards<T, R>(
  outcome: T | Promise<T>,
  next: (outcome: T) => R | Promise<R>,
): R | Promise<R> {
  return outcome instanceof Promise ? outcome.then(next) : next(outcome)
}
