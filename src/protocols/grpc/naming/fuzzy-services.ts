import type { ServiceKey } from '../../../core/naming/state/service.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { FuzzyDialect } from '../fuzzy/fuzzy-sync.ts'
import { fuzzyWatch, type FuzzyWatchParts } from '../fuzzy/fuzzy-watches.ts'

const SERVICES: FuzzyDialect<ServiceKey> = {
  nameOf: ({ groupedName }, namespace) => `${namespace}@@${groupedName}`,
  syncType: 'NamingFuzzyWatchSyncRequest',
  changeType: 'NamingFuzzyWatchChangeNotifyRequest',
  contextOf: (serviceKey, isThere) => ({ serviceKey, changedType: changedType(isThere) }),
  changeOf: (serviceKey, isThere) => ({
    serviceKey,
    changedType: changedType(isThere),
    syncType: 'FUZZY_WATCH_RESOURCE_CHANGED',
  }),
}

/** `NamingFuzzyWatchRequest`: which services there are, by patterns of their names. Their instances are not watched. */
export function fuzzyServices(
  servicePatterns: Operations['servicePatterns'],
  after: FuzzyWatchParts<ServiceKey>['after'],
) {
  return fuzzyWatch<ServiceKey>({
    type: 'NamingFuzzyWatchRequest',
    answer: 'NamingFuzzyWatchResponse',
    permission: servicePatterns.watchPattern.permission,
    dialect: SERVICES,
    watch: (request, { caller }) => servicePatterns.watchPattern(request, caller),
    after,
  })
}

function changedType(isThere: boolean): string {
  return isThere ? 'ADD_SERVICE' : 'DELETE_SERVICE'
}
