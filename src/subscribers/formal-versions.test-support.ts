import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { ConfigWatcherOptions } from './config-watchers.ts'

/** Items without gray versions, by the md5 of each. */
export function formalVersions(
  md5Of: (key: ConfigKey) => string,
): Pick<ConfigWatcherOptions, 'md5Of' | 'seenBy'> {
  return { md5Of, seenBy: (key, { ip }) => ({ md5: md5Of(key), ip }) }
}
