import type { ItemClient, ListedSubscriber, OwnCondition, SeenVersion } from '../core/clients/client-views.ts'
import {
  type ClientSearch,
  type ConnectedClient,
  type Dismissal,
  DISMISSALS,
  type ServerClients,
} from '../core/clients/connected-client.ts'
import { type ConfigKey, configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { InstanceAddress } from '../core/naming/state/instance.ts'
import type { InstancePlace } from '../core/naming/state/presence.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { MemberView } from '../core/cluster/members/member-view.ts'
import { FIRST_RELEASED, type VersionRange } from '../core/cluster/members/versions.ts'
import type { Silence } from '../core/naming/liveness/silence.ts'
import type { LostService } from '../core/naming/timeline/lost-services.ts'
import type { OwnTimeline } from '../core/naming/timeline/timeline.ts'
import { TIMELINE_CAUSES, TIMELINE_KINDS } from '../core/naming/timeline/timeline-entry.ts'
import type { ServerFigures } from '../core/cluster/members/server-figures.ts'
import { LIST, type MessageSize, PAGE } from './bounded-message.ts'
import {
  flag,
  list,
  map,
  number,
  object,
  oneOf,
  optional,
  orNull,
  type Shape,
  ShapeError,
  text,
} from '../core/records/shape.ts'

/**
 * The versions of the messages that this version of Waypost understands. A question that older servers do not know, or
 * understand otherwise, needs a new one: it says so in `since`.
 */
export const MESSAGES: VersionRange = { from: FIRST_RELEASED, to: FIRST_RELEASED }

/** A kind of question between servers, and its answer: plain JSON data. The readers throw an Error for another shape. */
export interface PeerQuestion<Question, Answer> {
  /** Its path. */
  readonly name: string
  /** The first version of the messages with it; by default the first version. Older members are not asked. */
  readonly since?: number
  /** The size of a question, by default `SMALL`, and of an answer. A larger one is refused before it is parsed. */
  readonly questionSize?: MessageSize
  readonly answerSize?: MessageSize
  readonly readQuestion: (json: unknown) => Question
  readonly readAnswer: (json: unknown) => Answer
}

const address = object<InstanceAddress>({ ip: text, port: number, cluster: text })
const serviceKey = object<ServiceKey>({ namespaceId: text, groupedName: text })
const place = object<InstancePlace>({ serviceKey, address })
const names = object({ namespaceId: text, group: text, dataId: text })
const key: Shape<ConfigKey> = (value) => {
  const { namespaceId, group, dataId } = names(value)
  return configKey(namespaceId, group, dataId)
}
const nothing: Shape<Readonly<Record<string, never>>> = () => ({})
const agoMs: Shape<number> = (value) => Math.max(0, number(value))

const silence: Shape<Silence> = (value) => {
  const { kind, agoMs: ago } = object({ kind: text, agoMs: optional(number) })(value)
  if (kind === 'unknown') return { kind }
  if ((kind === 'heard' || kind === 'learned') && ago !== undefined && ago >= 0) return { kind, agoMs: ago }
  throw new ShapeError('must be a silence')
}

/** Asks how long ago a member received the last beat of these instances. The answers are in the order of the places. */
export const SILENCE: PeerQuestion<readonly InstancePlace[], readonly Silence[]> = {
  name: 'silence',
  questionSize: PAGE,
  answerSize: PAGE,
  readQuestion: list(place),
  readAnswer: list(silence),
}

/** Asks whether the store still renews the member's lease. */
export const STANDING: PeerQuestion<Readonly<Record<string, never>>, { readonly hasStore: boolean }> = {
  name: 'standing',
  readQuestion: nothing,
  readAnswer: object({ hasStore: flag }),
}

/** How long ago a server last answered, by its member id. */
export interface HeardServer {
  readonly id: string
  readonly agoMs: number
}

/** Asks how long ago each server last answered the member. */
export const HEARD: PeerQuestion<Readonly<Record<string, never>>, readonly HeardServer[]> = {
  name: 'heard-servers',
  readQuestion: nothing,
  readAnswer: list(object<HeardServer>({ id: text, agoMs })),
}

/** Asks a member for its wall clock, epoch ms. */
export const CLOCK: PeerQuestion<Readonly<Record<string, never>>, { readonly wallMs: number }> = {
  name: 'clock',
  readQuestion: nothing,
  readAnswer: object({ wallMs: number }),
}

const figures = object<ServerFigures>({
  stepMs: number,
  storeBytes: optional(number),
  lines: object<ServerFigures['lines']>({
    requestsPerSecond: list(number),
    processorShare: list(number),
    memoryBytes: list(number),
    connections: list(number),
    storeBytes: list(number),
  }),
})

/** Asks a member for its view of itself. */
export const MEMBER_VIEW: PeerQuestion<Readonly<Record<string, never>>, MemberView> = {
  name: 'member-view',
  answerSize: PAGE,
  readQuestion: nothing,
  readAnswer: object<MemberView>({
    upMs: number,
    leaseMs: number,
    standing: text,
    layout: number,
    revision: number,
    newestRevision: number,
    lagMs: number,
    reloads: number,
    judgedServices: number,
    judgedInstances: number,
    hears: list(object({ id: text, replies: flag, agoMs: optional(number) })),
    figures,
  }),
}

/** The address of a client, and the md5 that it has of an item. */
export interface ItemWatcher {
  readonly ip: string
  readonly md5: string
}

/** Asks for the watchers of an item on a member. */
export const WATCHERS_OF: PeerQuestion<ConfigKey, readonly ItemWatcher[]> = {
  name: 'watchers-of',
  answerSize: LIST,
  readQuestion: key,
  readAnswer: list(object<ItemWatcher>({ ip: text, md5: text })),
}

const client = { ip: text, client: optional(object({ port: number, agent: text })) }

const itemClient = object<ItemClient>({
  ...client,
  md5: text,
  seen: object<SeenVersion>({
    md5: text,
    gray: optional(text),
    ip: text,
    tag: optional(text),
    labels: optional(map(text)),
  }),
  seenAgoMs: number,
  isAway: optional(flag),
  via: oneOf(['poll', 'stream']),
})

/** Asks for the clients of an item on a member. */
export const CLIENTS_OF: PeerQuestion<ConfigKey, readonly ItemClient[]> = {
  name: 'clients-of',
  answerSize: LIST,
  readQuestion: key,
  readAnswer: list(itemClient),
}

/** Asks for the number of a member's clients of each item. The answers are in the order of the items. */
export const CLIENT_COUNTS: PeerQuestion<readonly ConfigKey[], readonly number[]> = {
  name: 'client-counts',
  questionSize: PAGE,
  readQuestion: list(key),
  readAnswer: list(number),
}

/** Asks which items an address watches on a member. */
export const WATCHED_BY: PeerQuestion<{ readonly ip: string }, readonly WatchedItem[]> = {
  name: 'watched-by',
  answerSize: LIST,
  readQuestion: object({ ip: text }),
  readAnswer: list(object<WatchedItem>({ key, md5: text, echo: text })),
}

const lostServices: Shape<readonly LostService[]> = list(
  object<LostService>({
    key: serviceKey,
    stamp: number,
    atMs: number,
    address,
    cause: oneOf(TIMELINE_CAUSES),
  }),
)

/** Asks for a member's condition, and for the items that its clients have not received. */
export const CONDITION: PeerQuestion<Readonly<Record<string, never>>, OwnCondition> = {
  name: 'condition',
  answerSize: LIST,
  readQuestion: nothing,
  readAnswer: object<OwnCondition>({
    behind: list(object({ key, clientCount: number, clients: list(object(client)) })),
    lost: lostServices,
    subscriberCount: number,
    lagMs: number,
    faults: list(object({ code: text, detail: text, forMs: number })),
  }),
}

/** Asks for the subscribers of a service on a member. */
export const SUBSCRIBERS: PeerQuestion<ServiceKey, readonly ListedSubscriber[]> = {
  name: 'subscribers',
  answerSize: LIST,
  readQuestion: serviceKey,
  readAnswer: list(
    object<ListedSubscriber>({
      address: text,
      port: number,
      toldIp: text,
      agent: text,
      app: text,
      clusters: text,
      namespaceId: text,
      groupedName: text,
      via: oneOf(['udp', 'stream', 'poll']),
    }),
  ),
}

/** Asks for a member's entries about a service. */
export const TIMELINE: PeerQuestion<ServiceKey, OwnTimeline> = {
  name: 'timeline',
  answerSize: LIST,
  readQuestion: serviceKey,
  readAnswer: object<OwnTimeline>({
    fromMs: number,
    entries: list(
      object({
        stamp: number,
        atMs: number,
        kind: oneOf(TIMELINE_KINDS),
        cause: oneOf(TIMELINE_CAUSES),
        address,
        actor: optional(object({ user: orNull(text), ip: text })),
        text,
      }),
    ),
  }),
}

/** Says to a member that somebody has seen that a service has no instances. */
export const DISMISS_LOST: PeerQuestion<ServiceKey, Readonly<Record<string, never>>> = {
  name: 'dismiss-lost-service',
  readQuestion: serviceKey,
  readAnswer: nothing,
}

const connectedClient = object<ConnectedClient>({
  id: text,
  ip: text,
  port: number,
  version: text,
  appName: text,
  module: text,
  clientIp: text,
  username: text,
  labels: map(text),
  sinceMs: number,
  heardAgoMs: number,
  services: number,
  instances: number,
  subscriptions: number,
})

/** Asks for the clients that are connected to a member. */
export const CONNECTED_CLIENTS: PeerQuestion<ClientSearch, ServerClients> = {
  name: 'connected-clients',
  answerSize: LIST,
  readQuestion: object<ClientSearch>({ text, most: number }),
  readAnswer: object<ServerClients>({ server: text, count: number, clients: list(connectedClient) }),
}

/** Asks a member to send this client away. Asking twice does no harm: no other client gets the id. */
export const DISMISS: PeerQuestion<Dismissal, { readonly isKnown: boolean }> = {
  name: 'dismiss-client',
  readQuestion: object<Dismissal>({ id: text, how: oneOf(DISMISSALS) }),
  readAnswer: object({ isKnown: flag }),
}
