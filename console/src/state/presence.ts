const AWAY_AFTER_MS = 10 * 60_000

let lastInputMs = performance.now()

for (const event of ['pointermove', 'pointerdown', 'keydown', 'wheel'])
  addEventListener(event, () => (lastInputMs = performance.now()), { passive: true })

/** Whether somebody has used the page lately. Nothing is asked by itself otherwise: it would keep a session from ending. */
export const isSomebodyHere = (): boolean => performance.now() - lastInputMs < AWAY_AFTER_MS
