import { tooManyPatterns, type WatchedKeys } from '../../../operations/watched-keys.ts'
import type { KeyPattern } from '../../../core/text/key-pattern.ts'
import type { Permission } from '../../../operations/authorisation.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import { type AnyRequestType, type RequestContext, requestType } from '../requests/request-type.ts'
import { type FuzzyRequest, readFuzzyRequest } from './fuzzy-request.ts'
import { type FuzzyDialect, FuzzySync } from './fuzzy-sync.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'

/** The most patterns that a connection may watch. */
const MOST_PATTERNS = 100

/** A kind of things whose names clients watch by patterns. */
export interface FuzzyWatchParts<Key> {
  /** Such as `ConfigFuzzyWatchRequest`, and the type of its answer. */
  readonly type: string
  readonly answer: string
  readonly permission: Permission
  readonly dialect: FuzzyDialect<Key>
  /** Watches the keys that a pattern matches for a caller. */
  readonly watch: (
    request: { pattern: KeyPattern; touched: (key: Key) => void; giveWay: () => void },
    call: RequestContext,
  ) => WatchedKeys<Key>
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The request by which clients watch patterns of names of one kind (grpc-compat.md sections 3 and 4). */
function fuzzyWatch<Key>(parts: FuzzyWatchParts<Key>): AnyRequestType {
  const watches = new FuzzyWatches(parts)
  const { type, answer, permission } = parts
  return requestType({
    type,
    answer,
    permission,
    read: readFuzzyRequest,
    run: (request, call) => {
      if (request.isWatching) watches.watch(request, call)
      else watches.cancel(request, call)
      return {}
    },
  })
}

/** The patterns that a connection watches, by their texts as sent. */
interface Watching<Key> {
  readonly syncs: Map<string, FuzzySync<Key>>
  hasEnded: boolean
}

/** The patterns that all connections watch. */
class FuzzyWatches<Key> {
  readonly #parts: FuzzyWatchParts<Key>
  readonly #known = new WeakMap<ClientConnection, Watching<Key>>()

  constructor(parts: FuzzyWatchParts<Key>) {
    this.#parts = parts
  }

  watch(request: FuzzyRequest, call: RequestContext): void {
    const { connection } = call
    const { sent } = request
    const watching = this.#of(connection)
    const { syncs } = watching
    // A request may still be read while its connection ends.
    if (watching.hasEnded) return
    if (!syncs.has(sent.text) && syncs.size >= MOST_PATTERNS)
      throw tooManyPatterns(`at most ${MOST_PATTERNS} patterns on a connection`)
    const { dialect, after } = this.#parts
    const sync = syncs.get(sent.text) ?? new FuzzySync({ connection, dialect, sent, after })
    const giveWay = (): void => connection.giveWay()
    const touched = (key: Key): void => sync.touched(key)
    const watched = this.#parts.watch({ pattern: sent.pattern, touched, giveWay }, call)
    if (!sync.begin(watched, request))
      throw tooManyPatterns('patterns with fewer names that they have still to receive')
    // The connection may have ended with the message just sent, or given way to another user on it.
    if (watching.hasEnded) sync.end()
    else syncs.set(sent.text, sync)
  }

  cancel({ sent }: FuzzyRequest, { connection }: RequestContext): void {
    const { syncs } = this.#of(connection)
    syncs.get(sent.text)?.end()
    syncs.delete(sent.text)
  }

  #of(connection: ClientConnection): Watching<Key> {
    const known = this.#known.get(connection)
    if (known !== undefined) return known
    const watching: Watching<Key> = { syncs: new Map(), hasEnded: false }
    this.#known.set(connection, watching)
    connection.onEnd(() => {
      watching.hasEnded = true
      for (const sync of watching.syncs.values()) sync.end()
    })
    return watching
  }
}

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
