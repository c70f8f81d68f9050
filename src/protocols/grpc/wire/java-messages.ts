/** The fields that the Java server always writes in its messages. Some clients cannot read a message without one. */

/** The part of the server that each of its requests belongs to, as its body names it. */
const MODULE_OF = {
  SetupAckRequest: 'internal',
  ClientDetectionRequest: 'internal',
  ConnectResetRequest: 'internal',
  ConfigChangeNotifyRequest: 'config',
  ConfigFuzzyWatchSyncRequest: 'config',
  ConfigFuzzyWatchChangeNotifyRequest: 'config',
  NotifySubscriberRequest: 'naming',
  NamingFuzzyWatchSyncRequest: 'naming',
  NamingFuzzyWatchChangeNotifyRequest: 'naming',
} as const

/** A request that the server sends to a client. */
export type ServerRequestType = keyof typeof MODULE_OF

/** The keys of the body of every request of the server. Headers are never in the body, but the key is. */
export function usualKeysOf(type: ServerRequestType): object {
  return USUAL_KEYS[type]
}

const USUAL_KEYS = Object.fromEntries(
  Object.entries(MODULE_OF).map(([type, module]) => [type, { headers: {}, module }]),
) as Readonly<Record<ServerRequestType, object>>

/** The keys of answers that are primitives or lists in Java: they are written also where the request was refused. */
const ALSO_REFUSED: Readonly<Record<string, object>> = {
  ConfigQueryResponse: { lastModified: 0, beta: false },
  ConfigChangeBatchListenResponse: { changedConfigs: [] },
  ServiceListResponse: { count: 0 },
}

/** The fields of a refusal in an answer of this type, besides its error. */
export function keysOfRefused(type: string): object {
  return ALSO_REFUSED[type] ?? {}
}
