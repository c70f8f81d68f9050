import { randomFrom } from '../../random.ts'
import { BeatingInstance, STEADY, watchServer } from './beating.ts'
import { ask } from './ask.ts'
import {
  ConnectedInstance,
  ConnectedListener,
  ConnectedSubscriber,
  type KeptInstance,
  PassingClients,
} from './connected.ts'
import {
  type ClientParts,
  configClient,
  contendingClient,
  instanceClient,
  listClient,
  PATH_OF_ITEMS,
  readingClient,
  RecordedClient,
} from './clients.ts'
import { grayClient, PATH_OF_GRAY, RULE } from './gray-clients.ts'
import { ItemWatcher } from './watching.ts'
import { type Operation, Recording } from './recording.ts'

/** 32 clients, 6 that watch items, 40 instances that beat, 14 clients of gRPC, and somebody who looks at each server. */
const CONFIG_CLIENTS = 9
/** They all replace the first item, where writes of several servers meet. */
const CONTENDING = 6
const READERS = 3
const WATCHERS = 6
const INSTANCE_CLIENTS = 8
const LIST_CLIENTS = 6
const STEADY_INSTANCES = 40
/** Over gRPC. */
const CONNECTED_INSTANCES = 6
const LISTENERS = 3
const SUBSCRIBERS = 3
const PASSING_LANES = 2
const ITEMS = 12
const ITEMS_OF_CLIENT = 4
/** Items that have gray versions now and then. Each is watched by polls and over a connection, with the tag and without. */
const GRAY_ITEMS = 3
const GRAY_CLIENTS = 6

/** A load on several servers that runs until it is stopped. */
export interface ClusterLoad {
  readonly recording: Recording
  readonly items: readonly string[]
  /** The items that may have a gray version. */
  readonly grayItems: readonly string[]
  readonly steady: readonly BeatingInstance[]
  /** Those who watch items: by polls, and over connections. */
  readonly watchers: readonly { readonly item: string; readonly value: string | undefined }[]
  /** The instances that connected clients keep registered. */
  readonly connected: readonly KeptInstance[]
  readonly subscribers: readonly ConnectedSubscriber[]
  /** Clients that connect and leave in order. */
  readonly passing: readonly PassingClients[]
  /** The addresses of the instances that come and go. */
  readonly changing: readonly string[]
  /** The writers and readers wait, and all their requests have ended; beats go on. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
}

/** Starts it, and resolves when all instances that beat are registered. */
export async function startClusterLoad(
  { urls, grpcPorts }: Pick<ClientParts, 'urls' | 'grpcPorts'>,
  seed: number,
): Promise<ClusterLoad> {
  const recording = new Recording()
  const state = { paused: false, stopped: false }
  const parts = (name: string, n: number): ClientParts => ({
    name,
    urls,
    grpcPorts,
    home: n % urls.length,
    random: randomFrom(seed + n * 7919 + name.length),
    recording,
    isPaused: () => state.paused,
    isStopped: () => state.stopped,
  })
  const busy = { count: 0 }
  const client = (name: string, n: number) => new CountedClient(parts(`${name}-${n}`, n), busy)
  const items = Array.from({ length: ITEMS }, (_, n) => `item.${n}`)
  const steady = Array.from({ length: STEADY_INSTANCES }, (_, n) => {
    return new BeatingInstance(parts('steady', n), { serviceName: STEADY, port: n + 1 })
  })
  await Promise.all(steady.map(async (instance) => instance.register()))
  const grayItems = times(GRAY_ITEMS, (n) => `gray.${n}`)
  const ofGray = grayItems.flatMap((item) => [true, false].map((hasTag) => ({ item, hasTag })))
  const watchers = [
    ...times(WATCHERS, (n) => new ItemWatcher(client('watcher', n), items[n]!)),
    ...ofGray.map((one, n) => new ItemWatcher(client('gray-watcher', n), one.item, one)),
  ]
  const listeners = [
    ...times(LISTENERS, (n) => new ConnectedListener(parts(`listener-${n}`, n), items[n]!)),
    ...ofGray.map((one, n) => new ConnectedListener(parts(`gray-listener-${n}`, n), one.item, one)),
  ]
  const connected = times(
    CONNECTED_INSTANCES,
    (n) => new ConnectedInstance(parts(`connected-${n}`, n), n + 1),
  )
  const subscribers = times(SUBSCRIBERS, (n) => new ConnectedSubscriber(parts(`subscriber-${n}`, n)))
  const passing = times(PASSING_LANES, (n) => new PassingClients(parts(`passing-${n}`, n), n, busy))
  const work = Promise.all([
    ...[...watchers, ...listeners, ...connected, ...subscribers, ...passing].map(async (one) => one.run()),
    ...times(CONFIG_CLIENTS, async (n) => configClient(client('config', n), itemsOf(items, n))),
    ...times(CONTENDING, async (n) => contendingClient(client('contending', n), items[0]!)),
    ...times(GRAY_CLIENTS, async (n) => grayClient(client('gray', n), grayItems)),
    ...times(READERS, async (n) => readingClient(client('reader', n), items)),
    ...times(INSTANCE_CLIENTS, async (n) => instanceClient(client('instance', n), ipOf(n))),
    ...times(LIST_CLIENTS, async (n) => listClient(client('list', n), CHANGING_KEYS)),
    ...steady.map(async (instance) => instance.run()),
    ...urls.map(async (url, server) => watchServer({ url, server }, recording, () => state.stopped)),
  ])
  return {
    recording,
    items,
    grayItems,
    steady,
    watchers: [...watchers, ...listeners],
    connected,
    subscribers,
    passing,
    changing: CHANGING_KEYS,
    pause: async () => {
      state.paused = true
      while (busy.count > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    resume: () => void (state.paused = false),
    stop: async () => {
      state.stopped = true
      await wakeWatchers(urls, watchers)
      await work
    },
  }
}

/** Ends the held polls. */
async function wakeWatchers(urls: readonly string[], watchers: readonly ItemWatcher[]): Promise<void> {
  for (const { server, dataId, item } of watchers) {
    const query = { dataId, group: 'G', content: 'the end' }
    const request =
      item === dataId ? { path: PATH_OF_ITEMS, query } : { path: PATH_OF_GRAY, query: { ...query, ...RULE } }
    await ask(urls[server]!, { method: 'POST', ...request })
  }
}

/** Counts the requests that are under way. */
class CountedClient extends RecordedClient {
  readonly #busy: { count: number }

  constructor(parts: ClientParts, busy: { count: number }) {
    super(parts)
    this.#busy = busy
  }

  override async ask(...request: Parameters<RecordedClient['ask']>): Promise<Operation> {
    this.#busy.count++
    try {
      return await super.ask(...request)
    } finally {
      this.#busy.count--
    }
  }
}

const CHANGING_KEYS = times(INSTANCE_CLIENTS, (n) => [1, 2, 3].map((port) => `${ipOf(n)}:${port}`)).flat()

function ipOf(n: number): string {
  return `127.0.2.${n + 1}`
}

function itemsOf(items: readonly string[], n: number): string[] {
  return Array.from({ length: ITEMS_OF_CLIENT }, (_, at) => items[(n * 5 + at * 3) % items.length]!)
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}
