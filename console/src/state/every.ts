import { useEffect, useRef } from 'preact/hooks'
import { isSomebodyHere } from './presence.ts'

/**
 * Runs something this often while somebody looks at the page and no dialog is open; undefined: never. For what changes without an
 * event, such as the time of the last beat.
 */
export function useEvery(ms: number | undefined, run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (ms === undefined) return undefined
    const timer = setInterval(() => isLookedAt() && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

const isLookedAt = (): boolean =>
  !document.hidden && isSomebodyHere() && document.querySelector('dialog[open]') === null
