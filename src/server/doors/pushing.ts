import type { ClientMemory } from '../../core/memory/client-memory.ts'
import type { Logger } from 'pino'
import type { ListedSubscriber } from '../../core/clients/client-views.ts'
import { wholeText } from '../../core/text/long-text.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { InstanceListAnswers } from '../../protocols/answers/instance-list.ts'
import type { ListFormat } from '../../protocols/answers/list-format.ts'
import { splitClusters } from '../../protocols/parameters/grouped-name.ts'
import { PushSocket } from '../../protocols/udp/push-socket.ts'
import type { Settings } from '../../settings/settings.ts'
import { LAPSE_MARGIN_MS, type PushedList, PushOutlet } from '../../subscribers/push-outlet.ts'
import { ListReaders } from '../../subscribers/list-readers.ts'
import { GATHER_MS, ServiceWatch } from '../../subscribers/service-watch.ts'
import { type StreamedList, StreamOutlet } from '../../subscribers/stream-outlet.ts'
import { loop, wallMs } from '../process/clocks.ts'

/** A host is at least 260 bytes of JSON, so a list of more hosts exceeds the largest list that is compressed. */
const MOST_PUSHED = 4_100
const MOST_PUSHED_BYTES = 1024 * 1024

/** The watch of services, and its outlets: for clients that listen for datagrams, with their socket, and for connections. */
export type Pushing = Awaited<ReturnType<typeof openPushing>>

/** All clients that follow a service on this server: by pushes, or by reading its list. */
export function subscribersOf(
  { pushes, streams, readers }: Pick<Pushing, 'pushes' | 'streams' | 'readers'>,
  key: ServiceKey,
): ListedSubscriber[] {
  return [
    ...pushes.list(key).map((one) => ({ ...one, toldIp: one.address, via: 'udp' as const })),
    ...streams.list(key).map((one) => ({ ...one, via: 'stream' as const })),
    ...readers.of(key),
  ]
}

/** The source of pushed lists. */
interface Listed {
  readonly state: State
  readonly lists: InstanceListAnswers
  /** For the subscriptions. */
  readonly memory: ClientMemory
}

/** Binds the socket and connects it to the watch of services. */
export async function openPushing(listed: Listed, settings: Settings, log: Logger) {
  const { state, memory } = listed
  const enabled = (): boolean => state.switches.pushEnabled
  const socket = await PushSocket.open({
    host: settings.host,
    loop,
    wallMs,
    enabled,
    log: (message, error) => log.warn({ err: error }, message),
  })
  const isPersonal = (key: ServiceKey): boolean => state.service(key)?.selector.type === 'label'
  const pushes = new PushOutlet({
    sender: socket,
    loop,
    enabled,
    lapseMs: () => state.switches.defaultPushCacheMillis + LAPSE_MARGIN_MS,
    isPersonal,
    answerOf: (list) => pushedAnswer(listed, list),
    memory,
  })
  const serviceWatch = new ServiceWatch({
    loop,
    gatherMs: ({ groupedName }) => (state.switches.incrementalList.includes(groupedName) ? 0 : GATHER_MS),
  })
  const streams = new StreamOutlet({
    loop,
    enabled,
    isPersonal,
    listOf: (list) => streamedList(listed, list),
    onTooLarge: tooLargeReport(log),
    memory,
  })
  serviceWatch.add(pushes)
  serviceWatch.add(streams)
  // `readers`: clients that get no pushes, and read lists instead.
  return { serviceWatch, pushes, streams, readers: new ListReaders(memory), socket }
}

const MINUTE_MS = 60_000
/** More services than this are not named in a minute. */
const MOST_NAMED = 100

/** Logs lists that are too long to be pushed: each once a minute. */
function tooLargeReport(log: Logger): (key: ServiceKey) => void {
  const named = new Set<string>()
  let minuteMs = -Infinity
  return ({ namespaceId, groupedName }) => {
    const nowMs = loop.now()
    if (nowMs >= minuteMs + MINUTE_MS) {
      named.clear()
      minuteMs = nowMs
    }
    const name = `${namespaceId} ${groupedName}`
    if (named.has(name) || named.size >= MOST_NAMED) return
    named.add(name)
    log.warn({ namespaceId, groupedName }, 'a list is not pushed: no message of gRPC may be as long')
  }
}

/** The list that a connection is sent: as its client subscribed to it. */
function streamedList({ state, lists }: Listed, { key, clusters, consumerIp }: StreamedList) {
  return lists.answerInSlices({
    key,
    format: 'grpc',
    clustersText: clusters,
    clusters: splitClusters(clusters),
    healthyOnly: false,
    consumerIp,
    cacheMillis: state.switches.defaultPushCacheMillis,
  })
}

/** The pushed text: the list answer for this subscriber, with the longer cacheMillis. */
function pushedAnswer({ state, lists }: Listed, pushed: PushedList): Buffer | undefined {
  const { key, clusters, format, consumerIp } = pushed
  if (state.instanceCount(key) > MOST_PUSHED) return undefined
  const query = {
    key,
    // Subscriptions have the format of their list request.
    format: format as ListFormat,
    clustersText: clusters,
    clusters: splitClusters(clusters),
    healthyOnly: false,
    consumerIp,
    cacheMillis: state.switches.defaultPushCacheMillis,
  }
  const body = lists.answer(query, MOST_PUSHED_BYTES)
  return body === undefined || Buffer.isBuffer(body) ? body : wholeText(body)
}
