const AWAY_AFTER_MS = 10 * 60_000

let lastInputMs = performance.now()
const listeners = new Set<() => void>()

for (const event of ['pointermove', 'pointerdown', 'keydown', 'wheel'])
  addEventListener(event, noteInput, { passive: true })
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) tell()
})

function noteInput(): void {
  const wasHere = isSomebodyHere()
  lastInputMs = performance.now()
  if (!wasHere) tell()
}

function tell(): void {
  for (const listener of listeners) listener()
}

/** Whether somebody has used the page lately. Nothing is asked by itself otherwise: it would keep a session from ending. */
export function isSomebodyHere(): boolean {
  return performance.now() - lastInputMs < AWAY_AFTER_MS
}

/** Calls when somebody looks at the page again, or uses it again. */
export function onReturn(listener: () => void): void {
  listeners.add(listener)
}
