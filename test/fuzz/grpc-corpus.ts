import type { Random } from './random.ts'

/** A request as clients send it. */
export interface Sample {
  readonly type: string
  readonly body: Record<string, unknown>
}

const SERVICE = { namespace: 'public', serviceName: 'fuzz', groupName: 'DEFAULT_GROUP' }
const ITEM = { dataId: 'fuzz', group: 'DEFAULT_GROUP', tenant: '' }
const INSTANCE = {
  ip: '10.1.2.3',
  port: 8080,
  weight: 1,
  healthy: true,
  enabled: true,
  ephemeral: true,
  clusterName: 'DEFAULT',
  serviceName: 'fuzz',
  metadata: { zone: 'a' },
}
const INSTANCE_REQUEST = { ...SERVICE, type: 'registerInstance', instance: INSTANCE }

/** One request of each kind, or a few. */
const REQUESTS: readonly Sample[] = [
  { type: 'ServerCheckRequest', body: {} },
  { type: 'HealthCheckRequest', body: { requestId: '1' } },
  { type: 'ConfigQueryRequest', body: { ...ITEM, tag: null } },
  {
    type: 'ConfigPublishRequest',
    body: { ...ITEM, content: 'a=1', casMd5: '', additionMap: { type: 'text' } },
  },
  { type: 'ConfigRemoveRequest', body: ITEM },
  { type: 'ConfigBatchListenRequest', body: { listen: true, configListenContexts: [{ ...ITEM, md5: '' }] } },
  {
    type: 'ConfigFuzzyWatchRequest',
    body: { groupKeyPattern: 'public>>DEFAULT_GROUP>>fuzz*', receivedGroupKeys: [], watchType: 'WATCH' },
  },
  { type: 'InstanceRequest', body: INSTANCE_REQUEST },
  { type: 'InstanceRequest', body: { ...INSTANCE_REQUEST, type: 'deregisterInstance' } },
  {
    type: 'BatchInstanceRequest',
    body: { ...SERVICE, type: 'batchRegisterInstance', instances: [INSTANCE] },
  },
  {
    type: 'PersistentInstanceRequest',
    body: { ...INSTANCE_REQUEST, instance: { ...INSTANCE, ephemeral: false } },
  },
  { type: 'ServiceQueryRequest', body: { ...SERVICE, cluster: 'a,b', healthyOnly: false, udpPort: 0 } },
  {
    type: 'ServiceListRequest',
    body: { ...SERVICE, serviceName: '', pageNo: 1, pageSize: 10, selector: null },
  },
  { type: 'SubscribeServiceRequest', body: { ...SERVICE, subscribe: true, clusters: '' } },
  {
    type: 'NamingFuzzyWatchRequest',
    body: {
      namespace: 'public',
      groupKeyPattern: 'public>>*>>fuzz',
      receivedGroupKeys: [],
      watchType: 'WATCH',
    },
  },
  { type: 'LockOperationRequest', body: { lockInstance: { key: 'a' }, lockOperationEnum: 'ACQUIRE' } },
]

/** The messages of clients on their streams. */
const REPLIES: readonly Sample[] = [
  {
    type: 'ConnectionSetupRequest',
    body: { clientVersion: 'Fuzz:v1', labels: { module: 'naming' }, abilityTable: {} },
  },
  { type: 'NotifySubscriberResponse', body: { requestId: '1', resultCode: 200, success: true } },
  { type: 'ClientDetectionResponse', body: { requestId: '2', resultCode: 500 } },
]

/** Values to put in the place of a client's value. */
const ODD: readonly unknown[] = [
  null,
  '',
  ' ',
  'x'.repeat(5_000),
  '\u0000\ud800',
  '__proto__',
  '../../etc',
  'a@@b@@c',
  '>>>>',
  '*',
  0,
  -1,
  1.5,
  65_536,
  1e308,
  2 ** 53,
  true,
  [],
  {},
  [[[[[[]]]]]],
  [null, 1, 'a', {}],
  { type: {}, toString: 1, constructor: null },
]

/** A request, or a reply on the stream, in which some values are replaced by others of any kind. */
export function oddSample(random: Random, of: 'request' | 'reply'): Sample {
  const { type, body } = random.of(of === 'request' ? REQUESTS : REPLIES)
  const copy = structuredClone(body)
  const times = random.below(4)
  for (let time = 0; time < times; time++) makeOdd(copy, random)
  return { type: random.chance(0.02) ? JSON.stringify(random.of(ODD)) : type, body: copy }
}

function makeOdd(body: Record<string, unknown>, random: Random): void {
  const names = Object.keys(body)
  if (names.length === 0) return
  const name = random.of(names)
  const value = body[name]
  const isDeep = typeof value === 'object' && value !== null && random.chance(0.6)
  if (isDeep) makeOdd(value as Record<string, unknown>, random)
  else if (random.chance(0.1)) delete body[name]
  else body[name] = structuredClone(random.of(ODD))
}
