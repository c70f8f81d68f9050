import type { TextKey } from '../language/en.ts'
import type { TimelineEntry } from '../server/services.ts'

/** The key of the text that says why something happened to an instance. */
export function causeKey(kind: TimelineEntry['kind'], cause: TimelineEntry['cause']): TextKey {
  if (kind === 'registered' && cause === 'connection') return 'cause.connected'
  if (kind === 'removed' && cause === 'registration') return 'cause.replaced'
  return `cause.${cause}`
}
