import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { Operations } from '../../../operations/operations.ts'
import { fuzzyWatch, type FuzzyWatchParts } from '../fuzzy/fuzzy-watches.ts'
import type { FuzzyDialect } from '../fuzzy/fuzzy-sync.ts'

const CONFIGS: FuzzyDialect<ConfigKey> = {
  nameOf: ({ dataId, group }, namespace) => [dataId, group, namespace].map(escaped).join('+'),
  syncType: 'ConfigFuzzyWatchSyncRequest',
  changeType: 'ConfigFuzzyWatchChangeNotifyRequest',
  contextOf: (groupKey, isThere) => ({ groupKey, changedType: isThere ? 'ADD_CONFIG' : 'DELETE_CONFIG' }),
  changeOf: (groupKey, isThere) => ({ groupKey, changeType: isThere ? 'CONFIG_CHANGED' : 'DELETE_CONFIG' }),
}

/** `ConfigFuzzyWatchRequest`: which items there are, by patterns of their names. Their contents are not watched. */
export function fuzzyConfigs(
  configPatterns: Operations['configPatterns'],
  after: FuzzyWatchParts<ConfigKey>['after'],
) {
  return fuzzyWatch<ConfigKey>({
    type: 'ConfigFuzzyWatchRequest',
    answer: 'ConfigFuzzyWatchResponse',
    permission: configPatterns.watchPattern.permission,
    dialect: CONFIGS,
    watch: (request, { caller }) => configPatterns.watchPattern(request, caller),
    after,
  })
}

function escaped(part: string): string {
  return part.replaceAll('%', '%25').replaceAll('+', '%2B')
}
