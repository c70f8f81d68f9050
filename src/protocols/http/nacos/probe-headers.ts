import type { WatchedItem } from '../../../core/config/state/watched-item.ts'

/** What both headers may hold together: clients refuse an answer whose headers have more than 16 KiB. */
const MAX_PROBE_BYTES = 8 * 1024

/**
 * The headers that report differences to a client that sent no time-out: `dataId:group;` each for the oldest clients,
 * the encoded names for later ones. Items that do not fit are reported next time.
 */
export function probeHeaders(changed: readonly WatchedItem[]): Record<string, string> {
  let oldest = ''
  let encoded = ''
  for (const { key, echo } of changed) {
    const short = `${encodeURIComponent(key.dataId)}:${encodeURIComponent(key.group)};`
    if (oldest.length + encoded.length + short.length + echo.length > MAX_PROBE_BYTES) break
    oldest += short
    encoded += echo
  }
  return { 'Probe-Modify-Response': oldest, 'Probe-Modify-Response-New': encoded }
}
