import { beforeMove } from '../state/location.ts'

/** How long a list may take to be as long again as it was. */
const WAIT_MS = 3_000

const positions = new Map<number, number>()
let wanted: { readonly top: number; readonly untilMs: number } | undefined

/**
 * Keeps where the page is scrolled to, for the way back. A view reads its rows again, so the page is scrolled as soon as it is long
 * enough, unless somebody scrolls meanwhile.
 */
export function keepScroll(): void {
  history.scrollRestoration = 'manual'
  beforeMove(({ from, to, isNew }) => {
    positions.set(from, scrollY)
    wanted = isNew ? undefined : { top: positions.get(to) ?? 0, untilMs: performance.now() + WAIT_MS }
  })
  for (const event of ['wheel', 'pointerdown', 'keydown'])
    addEventListener(event, () => (wanted = undefined), { passive: true })
}

/** Scrolls what is shown now to where it was when it was left; a view that is new, to its top. */
export function scrollView(isNewView: boolean): void {
  if (wanted === undefined) return isNewView ? scrollTo(0, 0) : undefined
  const { top, untilMs } = wanted
  scrollTo(0, top)
  const isDone = Math.abs(scrollY - top) < 2 || performance.now() > untilMs
  if (isDone) wanted = undefined
  else requestAnimationFrame(() => wanted !== undefined && scrollView(false))
}
