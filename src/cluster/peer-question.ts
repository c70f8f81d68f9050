import type {
  BehindItem,
  ItemClient,
  ListedSubscriber,
  OwnCondition,
  SeenVersion,
  ServerFault,
} from '../core/clients/client-views.ts'
import {
  type ClientSearch,
  type ConnectedClient,
  type Dismissal,
  DISMISSALS,
  type ServerClients,
} from '../core/clients/connected-client.ts'
import { type ConfigKey, configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/watched-item.ts'
import type { InstanceAddress } from '../core/naming/state/instance.ts'
import type { InstancePlace } from '../core/naming/state/presence.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { HeardMember, MemberView } from '../core/cluster/members/member-view.ts'
import { FIRST_RELEASED, type VersionRange } from '../core/cluster/members/versions.ts'
import type { Silence } from '../core/naming/liveness/silence.ts'
import type { OwnTimeline } from '../core/naming/timeline/timeline.ts'
import {
  type Actor,
  TIMELINE_CAUSES,
  TIMELINE_KINDS,
  type TimelineEntry,
} from '../core/naming/timeline/timeline-entry.ts'
import type { ServerFigures } from '../core/cluster/members/server-figures.ts'
import { fieldsOf, numberIn, textIn } from '../core/records/shape.ts'

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
  readonly readQuestion: (json: unknown) => Question
  readonly readAnswer: (json: unknown) => Answer
}

/** Asks how long ago a member received the last beat of these instances. The answers are in the order of the places. */
export const SILENCE: PeerQuestion<readonly InstancePlace[], readonly Silence[]> = {
  name: 'silence',
  readQuestion: (json) => listOf(json, placeOf),
  readAnswer: (json) => listOf(json, silenceOf),
}

/** Asks whether the store still renews the member's lease. */
export const STANDING: PeerQuestion<Readonly<Record<string, never>>, { readonly hasStore: boolean }> = {
  name: 'standing',
  readQuestion: () => ({}),
  readAnswer: (json) => ({ hasStore: fieldsOf(json)['hasStore'] === true }),
}

/** How long ago a server last answered, by its member id. */
export interface HeardServer {
  readonly id: string
  readonly agoMs: number
}

/** Asks how long ago each server last answered the member. */
export const HEARD: PeerQuestion<Readonly<Record<string, never>>, readonly HeardServer[]> = {
  name: 'heard-servers',
  readQuestion: () => ({}),
  readAnswer: (json) =>
    listOf(json, (each) => {
      const fields = fieldsOf(each)
      return { id: textIn(fields, 'id'), agoMs: Math.max(0, numberIn(fields, 'agoMs')) }
    }),
}

/** Asks a member for its wall clock, epoch ms. */
export const CLOCK: PeerQuestion<Readonly<Record<string, never>>, { readonly wallMs: number }> = {
  name: 'clock',
  readQuestion: () => ({}),
  readAnswer: (json) => ({ wallMs: numberIn(fieldsOf(json), 'wallMs') }),
}

/** Asks a member for its view of itself. */
export const MEMBER_VIEW: PeerQuestion<Readonly<Record<string, never>>, MemberView> = {
  name: 'member-view',
  readQuestion: () => ({}),
  readAnswer: (json) => {
    const fields = fieldsOf(json)
    return {
      upMs: numberIn(fields, 'upMs'),
      leaseMs: numberIn(fields, 'leaseMs'),
      standing: textIn(fields, 'standing'),
      layout: numberIn(fields, 'layout'),
      revision: numberIn(fields, 'revision'),
      newestRevision: numberIn(fields, 'newestRevision'),
      lagMs: numberIn(fields, 'lagMs'),
      reloads: numberIn(fields, 'reloads'),
      judgedServices: numberIn(fields, 'judgedServices'),
      judgedInstances: numberIn(fields, 'judgedInstances'),
      hears: listOf(fields['hears'], heardOf),
      figures: figuresOf(fields['figures']),
    }
  },
}

function figuresOf(json: unknown): ServerFigures {
  const fields = fieldsOf(json)
  const lines = fieldsOf(fields['lines'])
  const lineOf = (name: string): number[] => listOf(lines[name], (value) => numberIn({ value }, 'value'))
  return {
    stepMs: numberIn(fields, 'stepMs'),
    storeBytes: fields['storeBytes'] === undefined ? undefined : numberIn(fields, 'storeBytes'),
    lines: {
      requestsPerSecond: lineOf('requestsPerSecond'),
      processorShare: lineOf('processorShare'),
      memoryBytes: lineOf('memoryBytes'),
      connections: lineOf('connections'),
      storeBytes: lineOf('storeBytes'),
    },
  }
}

function heardOf(json: unknown): HeardMember {
  const fields = fieldsOf(json)
  const agoMs = fields['agoMs'] === undefined ? undefined : numberIn(fields, 'agoMs')
  return { id: textIn(fields, 'id'), replies: fields['replies'] === true, agoMs }
}

/** The address of a client, and the md5 that it has of an item. */
export interface ItemWatcher {
  readonly ip: string
  readonly md5: string
}

/** Asks for the watchers of an item on a member. */
export const WATCHERS_OF: PeerQuestion<ConfigKey, readonly ItemWatcher[]> = {
  name: 'watchers-of',
  readQuestion: keyOf,
  readAnswer: (json) =>
    listOf(json, (each) => {
      const fields = fieldsOf(each)
      return { ip: textIn(fields, 'ip'), md5: textIn(fields, 'md5') }
    }),
}

/** Asks for the clients of an item on a member. */
export const CLIENTS_OF: PeerQuestion<ConfigKey, readonly ItemClient[]> = {
  name: 'clients-of',
  readQuestion: keyOf,
  readAnswer: (json) => listOf(json, itemClientOf),
}

/** Asks for the number of a member's clients of each item. The answers are in the order of the items. */
export const CLIENT_COUNTS: PeerQuestion<readonly ConfigKey[], readonly number[]> = {
  name: 'client-counts',
  readQuestion: (json) => listOf(json, keyOf),
  readAnswer: (json) => listOf(json, (count) => numberIn({ count }, 'count')),
}

/** Asks which items an address watches on a member. */
export const WATCHED_BY: PeerQuestion<{ readonly ip: string }, readonly WatchedItem[]> = {
  name: 'watched-by',
  readQuestion: (json) => ({ ip: textIn(fieldsOf(json), 'ip') }),
  readAnswer: (json) =>
    listOf(json, (each) => {
      const fields = fieldsOf(each)
      return { key: keyOf(fields['key']), md5: textIn(fields, 'md5'), echo: textIn(fields, 'echo') }
    }),
}

/** Asks for a member's condition, and for the items that its clients have not received. */
export const CONDITION: PeerQuestion<Readonly<Record<string, never>>, OwnCondition> = {
  name: 'condition',
  readQuestion: () => ({}),
  readAnswer: (json) => {
    const fields = fieldsOf(json)
    return {
      behind: listOf(fields['behind'], behindOf),
      subscriberCount: numberIn(fields, 'subscriberCount'),
      lagMs: numberIn(fields, 'lagMs'),
      faults: listOf(fields['faults'], faultOf),
    }
  },
}

/** Asks for the subscribers of a service on a member. */
export const SUBSCRIBERS: PeerQuestion<ServiceKey, readonly ListedSubscriber[]> = {
  name: 'subscribers',
  readQuestion: serviceKeyOf,
  readAnswer: (json) =>
    listOf(json, (each) => {
      const fields = fieldsOf(each)
      return {
        address: textIn(fields, 'address'),
        port: numberIn(fields, 'port'),
        toldIp: textIn(fields, 'toldIp'),
        agent: textIn(fields, 'agent'),
        app: textIn(fields, 'app'),
        clusters: textIn(fields, 'clusters'),
        namespaceId: textIn(fields, 'namespaceId'),
        groupedName: textIn(fields, 'groupedName'),
        via: wordOf(VIAS, fields['via']),
      }
    }),
}

/** The ways in which subscribers receive changes. */
const VIAS = ['udp', 'stream', 'poll'] as const

/** Asks for a member's entries about a service. */
export const TIMELINE: PeerQuestion<ServiceKey, OwnTimeline> = {
  name: 'timeline',
  readQuestion: serviceKeyOf,
  readAnswer: (json) => {
    const fields = fieldsOf(json)
    return { fromMs: numberIn(fields, 'fromMs'), entries: listOf(fields['entries'], timelineEntryOf) }
  },
}

/** Asks for the clients that are connected to a member. */
export const CONNECTED_CLIENTS: PeerQuestion<ClientSearch, ServerClients> = {
  name: 'connected-clients',
  readQuestion: (json) => {
    const fields = fieldsOf(json)
    return { text: textIn(fields, 'text'), most: numberIn(fields, 'most') }
  },
  readAnswer: (json) => {
    const fields = fieldsOf(json)
    const clients = listOf(fields['clients'], connectedClientOf)
    return { server: textIn(fields, 'server'), count: numberIn(fields, 'count'), clients }
  },
}

/** Asks a member to send this client away. Asking twice does no harm: no other client gets the id. */
export const DISMISS: PeerQuestion<Dismissal, { readonly isKnown: boolean }> = {
  name: 'dismiss-client',
  readQuestion: (json) => {
    const fields = fieldsOf(json)
    return { id: textIn(fields, 'id'), how: wordOf(DISMISSALS, fields['how']) }
  },
  readAnswer: (json) => ({ isKnown: fieldsOf(json)['isKnown'] === true }),
}

function connectedClientOf(json: unknown): ConnectedClient {
  const fields = fieldsOf(json)
  const labels = fieldsOf(fields['labels'])
  return {
    id: textIn(fields, 'id'),
    ip: textIn(fields, 'ip'),
    port: numberIn(fields, 'port'),
    version: textIn(fields, 'version'),
    appName: textIn(fields, 'appName'),
    module: textIn(fields, 'module'),
    clientIp: textIn(fields, 'clientIp'),
    username: textIn(fields, 'username'),
    labels: Object.fromEntries(Object.keys(labels).map((name) => [name, textIn(labels, name)])),
    sinceMs: numberIn(fields, 'sinceMs'),
    heardAgoMs: numberIn(fields, 'heardAgoMs'),
    services: numberIn(fields, 'services'),
    instances: numberIn(fields, 'instances'),
    subscriptions: numberIn(fields, 'subscriptions'),
  }
}

function timelineEntryOf(json: unknown): TimelineEntry {
  const fields = fieldsOf(json)
  return {
    atMs: numberIn(fields, 'atMs'),
    kind: wordOf(TIMELINE_KINDS, fields['kind']),
    cause: wordOf(TIMELINE_CAUSES, fields['cause']),
    address: addressOf(fields['address']),
    actor: fields['actor'] === undefined ? undefined : actorOf(fields['actor']),
    text: textIn(fields, 'text'),
  }
}

function actorOf(json: unknown): Actor {
  const fields = fieldsOf(json)
  return { user: fields['user'] === null ? null : textIn(fields, 'user'), ip: textIn(fields, 'ip') }
}

function wordOf<T extends string>(words: readonly T[], json: unknown): T {
  const word = words.find((each) => each === json)
  if (word === undefined) throw new Error('it is none of the words')
  return word
}

function listOf<T>(json: unknown, read: (each: unknown) => T): T[] {
  if (!Array.isArray(json)) throw new Error('it is not a list')
  return json.map(read)
}

function placeOf(json: unknown): InstancePlace {
  const { serviceKey, address } = fieldsOf(json)
  return { serviceKey: serviceKeyOf(serviceKey), address: addressOf(address) }
}

function addressOf(json: unknown): InstanceAddress {
  const fields = fieldsOf(json)
  return { ip: textIn(fields, 'ip'), port: numberIn(fields, 'port'), cluster: textIn(fields, 'cluster') }
}

function serviceKeyOf(json: unknown): ServiceKey {
  const fields = fieldsOf(json)
  return { namespaceId: textIn(fields, 'namespaceId'), groupedName: textIn(fields, 'groupedName') }
}

function keyOf(json: unknown): ConfigKey {
  const fields = fieldsOf(json)
  return configKey(textIn(fields, 'namespaceId'), textIn(fields, 'group'), textIn(fields, 'dataId'))
}

function behindOf(json: unknown): BehindItem {
  const fields = fieldsOf(json)
  const clients = listOf(fields['clients'], addressOfClient)
  return { key: keyOf(fields['key']), clientCount: numberIn(fields, 'clientCount'), clients }
}

function faultOf(json: unknown): ServerFault {
  const fields = fieldsOf(json)
  return { code: textIn(fields, 'code'), detail: textIn(fields, 'detail'), forMs: numberIn(fields, 'forMs') }
}

function addressOfClient(json: unknown): Pick<ItemClient, 'ip' | 'client'> {
  const fields = fieldsOf(json)
  const { client } = fields
  return { ip: textIn(fields, 'ip'), client: client === undefined ? undefined : portAndAgentOf(client) }
}

function itemClientOf(json: unknown): ItemClient {
  const fields = fieldsOf(json)
  return {
    ...addressOfClient(json),
    md5: textIn(fields, 'md5'),
    seen: seenVersionOf(fields['seen']),
    seenAgoMs: numberIn(fields, 'seenAgoMs'),
    via: textIn(fields, 'via') === 'stream' ? 'stream' : 'poll',
  }
}

function seenVersionOf(json: unknown): SeenVersion {
  const fields = fieldsOf(json)
  const gray = fields['gray'] === undefined ? undefined : textIn(fields, 'gray')
  const tag = fields['tag'] === undefined ? undefined : textIn(fields, 'tag')
  const labels = fields['labels'] === undefined ? undefined : labelsOf(fields['labels'])
  return { md5: textIn(fields, 'md5'), gray, ip: textIn(fields, 'ip'), tag, labels }
}

function labelsOf(json: unknown): Record<string, string> {
  const fields = fieldsOf(json)
  return Object.fromEntries(Object.keys(fields).map((name) => [name, textIn(fields, name)]))
}

function portAndAgentOf(json: unknown): { port: number; agent: string } {
  const fields = fieldsOf(json)
  return { port: numberIn(fields, 'port'), agent: textIn(fields, 'agent') }
}

function silenceOf(json: unknown): Silence {
  const fields = fieldsOf(json)
  const kind = textIn(fields, 'kind')
  if (kind === 'unknown') return { kind }
  const agoMs = numberIn(fields, 'agoMs')
  if ((kind === 'heard' || kind === 'learned') && agoMs >= 0) return { kind, agoMs }
  throw new Error('it is no silence')
}
