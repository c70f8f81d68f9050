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

/** A host is at least 260 bytes of JSON, so that a list of more exceeds what is packed at all (1 MiB). */
const MOST_PUSHED = 4_100

/** The watch of services, its outlet for clients that listen for datagrams, and the socket that these leave from. */
export interface Pushing {
  readonly serviceWatch: ServiceWatch
  readonly pushes: PushOutlet
  readonly socket: PushSocket
}

/** Where pushed lists come from. */
interface Listed {
  readonly state: State
  readonly lists: InstanceListAnswers
}

/** Binds the socket and joins it with the watch of services. */
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

/** What is pushed: the list answer as the subscriber would be given it, with the longer cacheMillis. */
function pushedAnswer({ state, lists }: Listed, pushed: PushedList): Buffer | undefined {
  const { key, clusters, format, consumerIp } = pushed
  if (state.instanceCount(key) > MOST_PUSHED) return undefined
  const body = lists.answer({
    key,
    // Subscriptions have it from the list operation.
    format: format as ListFormat,
    clustersText: clusters,
    clusters: splitClusters(clusters),
    healthyOnly: false,
    consumerIp,
    cacheMillis: state.switches.defaultPushCacheMillis,
  })
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body
}
