import { ROLE_PERMISSION, USER, USER_ROLE } from '../access/access-records.ts'
import type { Resource } from '../access/resource.ts'
import type { Change } from '../decisions/changes.ts'
import type { RecordSaved, RecordRemoved } from '../records/record-kind.ts'
import { ELECTION, MEMBER } from '../cluster/members/member-records.ts'
import { SERVER } from '../cluster/members/server-records.ts'
import { type ConfigKey, configKeyOfText } from '../config/state/config-item.ts'
import { GRAY, itemOfHistoryKey } from '../config/state/gray-version.ts'
import { REMEMBERED_METADATA, serviceOfRememberedId } from '../naming/state/remembered-metadata.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../naming/state/service.ts'
import { NAMESPACE_LOOK, NAMESPACE } from '../namespaces/namespace.ts'
import { LOCAL_SWITCH, SWITCH } from '../switches/switch-records.ts'

/**
 * The topic of a live event. `config` to `server`: such a thing has changed. `rights`: rights of users. `watchers`:
 * which clients have an item that was just published. `condition`: the report of a server, e.g. that it cannot write.
 * `audit`: there are new events in the audit.
 */
export const LIVE_KINDS = [
  'config',
  'service',
  'namespace',
  'switch',
  'user',
  'role',
  'permission',
  'server',
  'rights',
  'watchers',
  'condition',
  'audit',
] as const

/** One of {@link LIVE_KINDS}. */
export type LiveKind = (typeof LIVE_KINDS)[number]

/** The names of a thing: its fields as the interface calls them. */
export type LiveNames = Readonly<Record<string, string>>

/** A change of something that people may look at just now. It has names, and never contents. */
export interface LiveEvent {
  readonly kind: LiveKind
  readonly names: LiveNames
  /** The resource that a receiver must be allowed to read. */
  readonly resource: Resource
}

const ACCESS: Resource = { kind: 'access' }
const OPERATOR: Resource = { kind: 'operator' }
const EVERYBODY: Resource = { kind: 'own-account' }
const NO_NAMES: LiveNames = Object.freeze({})

const RIGHTS_CHANGED: LiveEvent = { kind: 'rights', names: NO_NAMES, resource: EVERYBODY }
/** A server's report on itself has changed. */
export const CONDITION_CHANGED: LiveEvent = { kind: 'condition', names: NO_NAMES, resource: EVERYBODY }
/** There are new events in the audit. */
export const AUDIT_WRITTEN: LiveEvent = { kind: 'audit', names: NO_NAMES, resource: { kind: 'audit' } }

/** A text that is the same for events about the same thing. */
export function liveKeyOf({ kind, names }: LiveEvent): string {
  return [kind, ...Object.values(names)].join('\u0002')
}

/** The clients of an item have changed. */
export function watchersChanged(key: ConfigKey): LiveEvent {
  return { kind: 'watchers', names: namesOfConfig(key), resource: { kind: 'config', key } }
}

/** The events of a change that people may see. */
export function liveEventsOf(change: Change): readonly LiveEvent[] {
  switch (change.kind) {
    case 'config-published':
      return [configChanged(change.item.key)]
    case 'config-deleted':
      return [configChanged(change.key)]
    case 'history-imported':
      // The history of gray versions has a key of its own, which no item has.
      return [configChanged(itemOfHistoryKey(change.record.key))]
    case 'service-saved':
      return [serviceChanged(change.service.key)]
    case 'service-deleted':
      return [serviceChanged(change.key)]
    case 'instance-saved':
    case 'instance-removed':
    case 'instance-health-changed':
      return [serviceChanged(change.serviceKey)]
    case 'record-saved':
    case 'record-removed':
      return EVENTS_OF_RECORDS.get(change.recordKind)?.(change) ?? []
  }
}

function configChanged(key: ConfigKey): LiveEvent {
  return { kind: 'config', names: namesOfConfig(key), resource: { kind: 'config', key } }
}

function namesOfConfig({ namespaceId, group, dataId }: ConfigKey): LiveNames {
  return { namespaceId, group, dataId }
}

function serviceChanged(key: ServiceKey): LiveEvent {
  const { namespaceId, groupedName } = key
  const names = { namespaceId, groupName: groupOf(groupedName), serviceName: serviceNameOf(groupedName) }
  return { kind: 'service', names, resource: { kind: 'service', key } }
}

type RecordChange = RecordSaved | RecordRemoved

/** The gray versions of an item are a part of it. The id of the record is the text of its key. */
function grayChanged({ id }: RecordChange): LiveEvent[] {
  return [configChanged(configKeyOfText(id))]
}

const namespaceChanged = ({ id }: RecordChange): LiveEvent[] => [
  { kind: 'namespace', names: { namespaceId: id }, resource: { kind: 'namespace', namespaceId: id } },
]
const switchChanged = ({ id }: RecordChange): LiveEvent[] => [
  { kind: 'switch', names: { entry: id }, resource: OPERATOR },
]
const serverChanged = ({ id }: RecordChange): LiveEvent[] => [
  { kind: 'server', names: { server: id }, resource: OPERATOR },
]

/** The events of changed records, by record kind. No view shows sessions, keys and the like. */
const EVENTS_OF_RECORDS: ReadonlyMap<string, (change: RecordChange) => readonly LiveEvent[]> = new Map([
  [GRAY.name, grayChanged],
  [NAMESPACE.name, namespaceChanged],
  [NAMESPACE_LOOK.name, namespaceChanged],
  [REMEMBERED_METADATA.name, ({ id }) => [serviceChanged(serviceOfRememberedId(id))]],
  [SWITCH.name, switchChanged],
  [LOCAL_SWITCH.name, switchChanged],
  [MEMBER.name, serverChanged],
  [ELECTION.name, serverChanged],
  [SERVER.name, serverChanged],
  [USER.name, ({ id }) => [{ kind: 'user', names: { username: id }, resource: ACCESS }]],
  [
    USER_ROLE.name,
    ({ id }) => {
      const [username = '', role = ''] = JSON.parse(id) as string[]
      return [{ kind: 'role', names: { username, role }, resource: ACCESS }, RIGHTS_CHANGED]
    },
  ],
  [
    ROLE_PERMISSION.name,
    ({ id }) => {
      const [role = ''] = JSON.parse(id) as string[]
      return [{ kind: 'permission', names: { role }, resource: ACCESS }, RIGHTS_CHANGED]
    },
  ],
])
