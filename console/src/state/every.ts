import { useEffect, useRef } from 'preact/hooks'
import { isSomebodyHere } from './presence.ts'

/**
 * Runs something this often while somebody looks at the page and no dialog is open; undefined: never. For values that change without
 * an event, such as the time of the last beat. `isInDialog`: it belongs to the open dialog.
 */
export function useEvery(ms: number | undefined, run: () => void, isInDialog = false): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (ms === undefined) return undefined
    const timer = setInterval(() => isLookedAt(isInDialog) && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms, isInDialog])
}

const isLookedAt = (isInDialog: boolean): boolean =>
  !document.hidden && isSomebodyHere() && (isInDialog || document.querySelector('dialog[open]') === null)
