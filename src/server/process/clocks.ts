/** Milliseconds of a monotonic clock. */
export const monotonicMs = (): number => performance.now()

/** Epoch milliseconds. */
export const wallMs = (): number => Date.now()

/** Runs something later, unless the process ends before. */
export const later = (ms: number, run: () => void): void => void setTimeout(run, ms).unref()

/** The event loop, for the parts that work in slices. */
export const loop = {
  now: monotonicMs,
  soon: (run: () => void) => void setImmediate(run),
  after: (ms: number, run: () => void) => void setTimeout(run, ms),
}
