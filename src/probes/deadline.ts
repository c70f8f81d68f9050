/** A timer that fires this much after its time says that the process was paused, not that the target was slow. */
const PAUSED_AFTER_MS = 100

/**
 * Calls `expire` after `timeoutMs`, unless the returned function was called before. When the timer itself is late,
 * because this process was busy or suspended, the target gets the full time once more: a pause of our own must not
 * make others look dead.
 */
export function startDeadline(timeoutMs: number, expire: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (forgiving: boolean): void => {
    const due = performance.now() + timeoutMs
    timer = setTimeout(() => {
      if (forgiving && performance.now() - due > PAUSED_AFTER_MS) arm(false)
      else expire()
    }, timeoutMs)
  }
  arm(true)
  return () => clearTimeout(timer)
}
