import type { Logger } from 'pino'
import type { State } from '../core/state.ts'
import type { InstanceListAnswers } from '../protocols/answers/instance-list.ts'
import type { ListFormat } from '../protocols/answers/list-format.ts'
import { splitClusters } from '../protocols/parameters/grouped-name.ts'
import { PushSocket } from '../protocols/udp/push-socket.ts'
import type { Settings } from '../settings/settings.ts'
import { LAPSE_MARGIN_MS, type PushedList, PushOutlet } from '../subscribers/push-outlet.ts'
import { GATHER_MS, ServiceWatch } from '../subscribers/service-watch.ts'
import { loop, wallMs } from './clocks.ts'

/** A host is at least 260 bytes of JSON, so a list of more hosts exceeds the largest list that is compressed (1 MiB). */
const MOST_PUSHED = 4_100

/** The watch of services, its outlet for clients that listen for datagrams, and the socket that sends these. */
export interface Pushing {
  readonly serviceWatch: ServiceWatch
  readonly pushes: PushOutlet
  readonly socket: PushSocket
}

/** The source of pushed lists. */
interface Listed {
  readonly state: State
  readonly lists: InstanceListAnswers
}

/** Binds the socket and connects it to the watch of services. */
export async function openPushing(listed: Listed, settings: Settings, log: Logger): Promise<Pushing> {
  const { state } = listed
  const enabled = (): boolean => state.switches.pushEnabled
  const socket = await PushSocket.open({
    host: settings.host,
    loop,
    wallMs,
    enabled,
    maxDatagramsPerSecond: settings.maxDatagramsPerSecond,
    log: (message, error) => log.warn({ err: error }, message),
  })
  const pushes = new PushOutlet({
    sender: socket,
    loop,
    enabled,
    lapseMs: () => state.switches.defaultPushCacheMillis + LAPSE_MARGIN_MS,
    isPersonal: (key) => state.service(key)?.selector.type === 'label',
    answerOf: (list) => pushedAnswer(listed, list),
  })
  const serviceWatch = new ServiceWatch({
    loop,
    gatherMs: ({ groupedName }) => (state.switches.incrementalList.includes(groupedName) ? 0 : GATHER_MS),
  })
  serviceWatch.add(pushes)
  return { serviceWatch, pushes, socket }
}

/** The pushed text: the list answer for this subscriber, with the longer cacheMillis. */
function pushedAnswer({ state, lists }: Listed, pushed: PushedList): Buffer | undefined {
  const { key, clusters, format, consumerIp } = pushed
  if (state.instanceCount(key) > MOST_PUSHED) return undefined
  const body = lists.answer({
    key,
    // Subscriptions have the format of their list request.
    format: format as ListFormat,
    clustersText: clusters,
    clusters: splitClusters(clusters),
    healthyOnly: false,
    consumerIp,
    cacheMillis: state.switches.defaultPushCacheMillis,
  })
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body
}
