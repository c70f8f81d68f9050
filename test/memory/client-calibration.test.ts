/** The account of what clients watch against a real process: within a quarter, for the shortest and the longest names. */
import { beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../src/core/access/identity.ts'
import { ClientMemory } from '../../src/core/memory/client-memory.ts'
import { type Authorisation, OPEN } from '../../src/operations/authorisation.ts'
import { configPatternOperations } from '../../src/operations/config/config-patterns.ts'
import { listeningOperations } from '../../src/operations/config/config-listening.ts'
import { Guard } from '../../src/operations/guard.ts'
import { listOperations, subscriptionOperations } from '../../src/operations/naming/instance-lists.ts'
import { servicePatternOperations } from '../../src/operations/naming/service-patterns.ts'
import type { OperationParts, Operations } from '../../src/operations/operations.ts'
import { configRequests } from '../../src/protocols/grpc/config/config-requests.ts'
import { fakeConnection } from '../../src/protocols/grpc/connections/connection.test-support.ts'
import { namingRequests } from '../../src/protocols/grpc/naming/naming-requests.ts'
import type { AnyRequestType } from '../../src/protocols/grpc/requests/request-type.ts'
import { parseListeningConfigs } from '../../src/protocols/http/endpoints/config/listening-configs.ts'
import { listEndpoint } from '../../src/protocols/http/endpoints/naming/list-endpoint.ts'
import { valuesOf } from '../../src/protocols/parameters/form-parser.ts'
import { compileReader } from '../../src/protocols/parameters/parameter-reader.ts'
import { SVC_RULES } from '../../src/protocols/parameters/schema.ts'
import { configPatterns } from '../../src/subscribers/config-patterns.ts'
import { ConfigWatchers } from '../../src/subscribers/config-watchers.ts'
import { formalVersions } from '../../src/subscribers/formal-versions.test-support.ts'
import { PushRegistry } from '../../src/subscribers/push-registry.ts'
import { servicePatterns } from '../../src/subscribers/service-patterns.ts'
import { StreamOutlet } from '../../src/subscribers/stream-outlet.ts'
import { State } from '../../src/core/engine/state.ts'
import { bytesInUse } from './bytes-in-use.ts'

/** How many things a connection watches. */
const OF_CONNECTION = 100

/** Each push is judged, and everybody may do everything. */
const JUDGED: Authorisation = { isOn: true, allows: () => true }
const IDENTITY: Identity = { kind: 'user', username: 'ada', by: 'token', expiresMs: Infinity } as Identity

const OTHERS = ['services', 'instances', 'connectionInstances', 'configs', 'gray']
const ANY_OPERATION = new Proxy({}, { get: () => ({ permission: {} }) })

/** The subscribers of a server, with the one account of all. */
function subscribers(memory: ClientMemory, authorisation: Authorisation) {
  const guard = new Guard(authorisation)
  const loop = { now: () => 0, soon: () => undefined, after: () => undefined }
  const streams = new StreamOutlet({
    listOf: () => undefined,
    isPersonal: () => false,
    loop,
    enabled: () => true,
    memory,
  })
  const pushes = new PushRegistry(() => 60_000, memory)
  const polls = new ConfigWatchers({ ...formalVersions(() => ''), loop, memory })
  const parts = {
    guard,
    state: new State(0),
    lists: { answer: () => '{}' },
    streams,
    pushes: {
      subscribe: (one: Parameters<PushRegistry['refresh']>[0]) => pushes.refresh(one, 0) !== undefined,
    },
    readers: { note: () => undefined },
    polls,
    servicePatterns: servicePatterns(loop, memory),
    configPatterns: configPatterns(loop, memory),
    maxListeningItems: 10_000,
  } as unknown as OperationParts
  const operations = {
    lists: listOperations(parts),
    subscriptions: subscriptionOperations(parts),
    servicePatterns: servicePatternOperations(parts),
    configPatterns: configPatternOperations(parts),
    listening: listeningOperations(parts),
    // Their requests are made too, and not called.
    ...Object.fromEntries(OTHERS.map((name) => [name, ANY_OPERATION])),
  } as unknown as Operations
  return { operations, kept: { streams, pushes, polls, parts } }
}

/** The end of the name of a kind. */
const OPEN_KIND = 'while nobody signs in'

/** Watches thing `index` with a name of this kind. */
type Watch = (index: number, name: string) => void

function overGrpc(
  types: readonly AnyRequestType[],
  type: string,
  bodyOf: (name: string, index: number) => object,
): Watch {
  const request = types.find((one) => one.type === type)!
  let client: ReturnType<typeof fakeConnection> | undefined
  return (index, name) => {
    if (index % OF_CONNECTION === 0) client = fakeConnection({ id: `1_10.0.0.1_${index}` })
    const { connection, outlet } = client!
    const caller = { ip: '10.0.0.1', identity: IDENTITY }
    const call = { connection, caller, headers: new Map<string, string>() }
    const body = JSON.parse(Buffer.from(JSON.stringify(bodyOf(name, index))).toString())
    void request.run(request.read(body, call), call)
    outlet.sent.length = 0
  }
}

const overHttp =
  (more: string) =>
  ({ lists }: Pick<Operations, 'lists'>): Watch => {
    const { params, handle } = listEndpoint({ lists } as never, () => 'svc' as never)
    const read = compileReader(params, SVC_RULES)
    return (index, name) => {
      const address = Buffer.from(`10.0.${index >> 8}.${index & 255}`).toString()
      const caller = {
        ip: address,
        socketIp: address,
        isProxied: false,
        userAgent: Buffer.from(`Nacos-Java-Client:v1.4.${index % 10}`).toString(),
        headers: {},
        identity: IDENTITY,
      }
      const url = Buffer.from(`/svc/v1/ns/instance/list?serviceName=${name}&udpPort=5000${more}`).toString()
      void handle({ params: read(valuesOf(url, undefined, 10)), caller, target: url } as never)
    }
  }

/** Polls of many items, as one client after another sends them. */
const polls = ({ listening }: Operations): Watch => {
  const names: string[] = []
  return (index, name) => {
    names.push(name)
    if (names.length < OF_CONNECTION) return
    const rows = names.splice(0).map((one) => `${one}\u0002G\u0002\u0001`)
    const items = parseListeningConfigs(Buffer.from(rows.join('')).toString(), OF_CONNECTION)
    const address = Buffer.from(`10.0.${index >> 8}.${index & 255}`).toString()
    const caller = { ip: address, identity: IDENTITY }
    const poll = {
      items,
      ip: address,
      dueMs: 1e9,
      waits: true,
      answer: () => undefined,
      giveWay: () => undefined,
    }
    listening.poll(poll, caller as never)
  }
}

/** Each connection subscribes to the same services. */
const ofOthers = (operations: Operations): Watch =>
  overGrpc(namingRequests({ operations } as never), 'SubscribeServiceRequest', (name, index) => ({
    serviceName: name.replace(/^s\d+/, `s${index % OF_CONNECTION}`),
  }))

const KINDS: Readonly<Record<string, (operations: Operations) => Watch>> = {
  'subscriptions of connections': (operations) =>
    overGrpc(namingRequests({ operations } as never), 'SubscribeServiceRequest', (serviceName) => ({
      serviceName,
      groupName: 'G',
    })),
  'subscriptions in a namespace with a long name': (operations) =>
    overGrpc(namingRequests({ operations } as never), 'SubscribeServiceRequest', (serviceName) => ({
      namespace: 'n'.repeat(60),
      serviceName,
      groupName: 'G',
    })),
  'subscriptions of list calls': overHttp(''),
  'subscriptions of list calls with a long target': overHttp(`&more=${'y'.repeat(1_500)}`),
  'items that connections listen to': (operations) =>
    overGrpc(
      configRequests({ operations, limits: { maxListeningItems: 1e4 }, after: () => undefined } as never),
      'ConfigBatchListenRequest',
      (dataId) => ({ listen: true, configListenContexts: [{ dataId, group: 'G', tenant: '', md5: '' }] }),
    ),
  'items of polls': polls,
  'patterns of services': (operations) =>
    overGrpc(
      namingRequests({ operations, after: () => undefined } as never),
      'NamingFuzzyWatchRequest',
      (name) => ({ groupKeyPattern: `public>>G>>${name}*`, watchType: 'WATCH', initializing: true }),
    ),
  'patterns of configurations with two wildcards': (operations) =>
    overGrpc(
      configRequests({ operations, limits: { maxListeningItems: 1e4 }, after: () => undefined } as never),
      'ConfigFuzzyWatchRequest',
      (name) => ({ groupKeyPattern: `public>>G>>*${name}*`, watchType: 'WATCH', initializing: false }),
    ),
  'patterns of services with very many wildcards': (operations) =>
    overGrpc(
      namingRequests({ operations, after: () => undefined } as never),
      'NamingFuzzyWatchRequest',
      (name) => ({ groupKeyPattern: `public>>G>>${name}${'*a*bc'.repeat(40)}*`, watchType: 'WATCH' }),
    ),
  [`subscriptions of connections ${OPEN_KIND}`]: (operations) =>
    overGrpc(namingRequests({ operations } as never), 'SubscribeServiceRequest', (serviceName) => ({
      serviceName,
    })),
  [`subscriptions to services that others subscribe to ${OPEN_KIND}`]: ofOthers,
  'subscriptions to services that others subscribe to': ofOthers,
  'list calls of clients of one host for the same services': (operations) => {
    const call = overHttp('')(operations)
    return (index, name) => call(index >> 6, name.replace(/^s\d+/, `s${index % 64}`))
  },
}

/** The names of things, and how many of each. */
const NAMES: Readonly<Record<string, { count: number; nameOf: (index: number) => string }>> = {
  short: { count: 10_000, nameOf: (index) => `s${index}` },
  long: { count: 4_000, nameOf: (index) => `s${index}`.padEnd(240, 'x') },
}

// The modules of the test itself leave garbage too.
beforeAll(bytesInUse)

const CASES = Object.keys(KINDS).flatMap((kind) => Object.keys(NAMES).map((names) => [kind, names] as const))

/** Watches all, and gives the account with what keeps it in memory. */
function watched(kind: string, names: string): { readonly memory: ClientMemory } {
  const memory = new ClientMemory()
  const { count, nameOf } = NAMES[names]!
  const { operations, kept } = subscribers(memory, kind.endsWith(OPEN_KIND) ? OPEN : JUDGED)
  const watch = KINDS[kind]!(operations)
  for (let index = 0; index < count; index++) watch(index, nameOf(index))
  return Object.assign({ operations, kept, watch }, { memory })
}

test.each(CASES)('%s with %s names take as much memory as the account says', async (kind, names) => {
  const { count } = NAMES[names]!
  let held: ReturnType<typeof watched> | undefined = watched(kind, names)
  const used = await bytesInUse()
  const counted = held.memory.bytes
  // The account knows those who watch.
  held = undefined
  const real = used - (await bytesInUse())
  const bytes = `${Math.round(counted / count)} bytes each, of ${Math.round(real / count)}`
  expect(counted / real, bytes).toBeGreaterThan(0.75)
  expect(counted / real, bytes).toBeLessThan(1.25)
})
