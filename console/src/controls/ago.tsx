import { shownAgo, shownTime } from '../language/text.ts'

/** When something happened: how long ago, with the time on hover. */
export function Ago({ atMs }: { atMs: number }) {
  return (
    <time dateTime={new Date(atMs).toISOString()} title={shownTime(atMs)}>
      {shownAgo(atMs, Date.now())}
    </time>
  )
}
