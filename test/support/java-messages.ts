/** The keys that the classes of the Java server always write into its messages (2.5.1 and 3.0.3): clients may rely on each key. */

type Kind = 'integer' | 'boolean' | 'text' | 'object' | 'list'
type Keys = Readonly<Record<string, Kind>>

const ANSWER: Keys = { resultCode: 'integer', errorCode: 'integer', success: 'boolean' }
const REQUEST: Keys = { headers: 'object', module: 'text' }
/** One that the client acknowledges. */
const QUESTION: Keys = { ...REQUEST, requestId: 'text' }
const BATCH: Keys = { ...QUESTION, groupKeyPattern: 'text', syncType: 'text', contexts: 'list' }
const COUNTED_BATCH: Keys = { ...BATCH, totalBatch: 'integer', currentBatch: 'integer' }

/** Also where the request was refused. */
const ALWAYS: Readonly<Record<string, Keys>> = {
  ErrorResponse: { ...ANSWER, message: 'text' },
  ServerCheckResponse: { ...ANSWER, connectionId: 'text', supportAbilityNegotiation: 'boolean' },
  HealthCheckResponse: ANSWER,
  ConfigQueryResponse: { ...ANSWER, lastModified: 'integer', beta: 'boolean' },
  ConfigPublishResponse: ANSWER,
  ConfigRemoveResponse: ANSWER,
  ConfigChangeBatchListenResponse: { ...ANSWER, changedConfigs: 'list' },
  ConfigFuzzyWatchResponse: ANSWER,
  InstanceResponse: ANSWER,
  BatchInstanceResponse: ANSWER,
  QueryServiceResponse: ANSWER,
  SubscribeServiceResponse: ANSWER,
  ServiceListResponse: { ...ANSWER, count: 'integer' },
  NamingFuzzyWatchResponse: ANSWER,
  SetupAckRequest: { ...REQUEST, abilityTable: 'object' },
  ClientDetectionRequest: QUESTION,
  ConnectResetRequest: QUESTION,
  ConfigChangeNotifyRequest: { ...QUESTION, dataId: 'text', group: 'text' },
  ConfigFuzzyWatchSyncRequest: COUNTED_BATCH,
  ConfigFuzzyWatchChangeNotifyRequest: { ...QUESTION, groupKey: 'text', changeType: 'text' },
  NotifySubscriberRequest: { ...QUESTION, serviceInfo: 'object' },
  NamingFuzzyWatchSyncRequest: COUNTED_BATCH,
  NamingFuzzyWatchChangeNotifyRequest: {
    ...QUESTION,
    serviceKey: 'text',
    changedType: 'text',
    syncType: 'text',
  },
}

/** Besides, where the request was carried out. */
const DONE: Readonly<Record<string, Keys>> = {
  ConfigQueryResponse: { content: 'text', contentType: 'text', md5: 'text', encryptedDataKey: 'text' },
  InstanceResponse: { type: 'text' },
  BatchInstanceResponse: { type: 'text' },
  QueryServiceResponse: { serviceInfo: 'object' },
  SubscribeServiceResponse: { serviceInfo: 'object', message: 'text' },
  ServiceListResponse: { serviceNames: 'list' },
}

const REFUSED: Keys = { message: 'text' }

const SERVICE_INFO: Keys = {
  name: 'text',
  groupName: 'text',
  clusters: 'text',
  cacheMillis: 'integer',
  hosts: 'list',
  lastRefTime: 'integer',
  checksum: 'text',
  allIPs: 'boolean',
  reachProtectionThreshold: 'boolean',
  valid: 'boolean',
}

/** Whether it is known what a message of this type always has. */
export function isDescribed(type: string): boolean {
  return type in ALWAYS
}

/** The keys that Java always writes and a message of the server lacks, and keys that no client can read. */
export function faultsOf(type: string, text: string): string[] {
  const keys = ALWAYS[type]
  // Servers that tests make have messages of their own.
  if (keys === undefined) return []
  const body = JSON.parse(text || '{}') as Readonly<Record<string, unknown>>
  const isRefused = body['success'] === false
  return [
    ...lacking(body, { ...keys, ...(isRefused ? REFUSED : DONE[type]) }),
    ...(isObject(body['serviceInfo']) ? lacking(body['serviceInfo'], SERVICE_INFO) : []),
    ...(hasNull(body) ? ['null'] : []),
    // Only a query may be answered with a version for a tag; test/grpc/gray.test.ts says to whom.
    ...('tag' in body && type !== 'ConfigQueryResponse' ? ['tag, although none matched'] : []),
    // Some clients do not take an integer for a double.
    ...(/"weight":\d+[,}]/.test(text) ? ['a weight without a fraction'] : []),
  ].map((fault) => `${type}: ${fault} in ${text.slice(0, 500)}`)
}

function lacking(body: Readonly<Record<string, unknown>>, keys: Keys): string[] {
  return Object.entries(keys).flatMap(([key, kind]) =>
    kindOf(body[key]) === kind ? [] : [`${key} is no ${kind}`],
  )
}

function kindOf(value: unknown): Kind | undefined {
  if (Array.isArray(value)) return 'list'
  if (isObject(value)) return 'object'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'boolean'
  return Number.isInteger(value) ? 'integer' : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).some(hasNull))
}
