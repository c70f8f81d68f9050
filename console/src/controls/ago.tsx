import { shownAgo, shownTime } from '../language/text.ts'
import { now } from '../state/now.ts'
import { useStore } from '../state/store.ts'

/** When something happened: how long ago, with the time on hover. */
export function Ago({ atMs }: { atMs: number }) {
  const nowMs = useStore(now)
  return (
    <time dateTime={new Date(atMs).toISOString()} title={shownTime(atMs)}>
      {shownAgo(atMs, nowMs)}
    </time>
  )
}
