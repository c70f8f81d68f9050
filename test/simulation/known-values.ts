import { SESSION, USER, USER_ROLE } from '../../src/core/access/access-records.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { type ConfigKey, configKey } from '../../src/core/config/state/config-item.ts'
import {
  grayNamed,
  GRAY,
  grayContentOf,
  isGrayHistory,
  itemOfHistoryKey,
} from '../../src/core/config/state/gray-version.ts'
import { addressText } from '../../src/core/naming/state/instance.ts'
import { type ServiceKey, serviceNameOf } from '../../src/core/naming/state/service.ts'
import type { State } from '../../src/core/engine/state.ts'
import {
  type AccessValue,
  type GrayValue,
  type InstanceValue,
  type ItemValue,
  kindOf,
  type ServiceValue,
} from './reference.ts'

/** All users, roles and sessions: they refer to each other. */
export const ACCESS = 'access'

/** The key of an item of the simulation. */
export function keyOf(dataId: string): ConfigKey {
  return configKey('public', 'G', dataId)
}

/** The name of an item as an object of the reference. */
export function itemObject({ dataId }: ConfigKey): string {
  return `item ${dataId}`
}

/** The name of the gray version of an item as an object of the reference. */
export function grayObject({ dataId }: ConfigKey): string {
  return `gray ${dataId}`
}

/** The key of a service of the simulation. */
export function serviceKeyOf(name: string): ServiceKey {
  return { namespaceId: 'public', groupedName: `G@@${name}` }
}

/** The name of a service, with its instances, as an object of the reference. */
export function serviceObject({ groupedName }: ServiceKey): string {
  return `service ${serviceNameOf(groupedName)}`
}

/** The object that a change is about; undefined: no object that the simulation looks at. */
export function objectOf(change: Change): string | undefined {
  switch (change.kind) {
    case 'config-published':
      return itemObject(change.item.key)
    case 'config-deleted':
      return itemObject(change.key)
    case 'history-imported': {
      const { key } = change.record
      return isGrayHistory(key) ? grayObject(itemOfHistoryKey(key)) : itemObject(key)
    }
    case 'service-saved':
      return serviceObject(change.service.key)
    case 'service-deleted':
      return serviceObject(change.key)
    case 'instance-saved':
    case 'instance-removed':
    case 'instance-health-changed':
      return serviceObject(change.serviceKey)
    case 'record-saved':
    case 'record-removed':
      if (change.recordKind === GRAY.name) return `gray ${change.id.split('\u0002')[2]}`
      return [USER.name, USER_ROLE.name, SESSION.name].includes(change.recordKind) ? ACCESS : undefined
  }
}

/** The value of an object on a server, in the form of the reference. */
export function knownValue(state: State, object: string): unknown {
  const kind = kindOf(object)
  const name = object.slice(kind.length + 1)
  if (kind === 'item') return knownItem(state, keyOf(name))
  if (kind === 'gray') return knownGray(state, keyOf(name))
  return kind === 'service' ? knownService(state, serviceKeyOf(name)) : knownAccess(state)
}

function knownItem(state: State, key: ConfigKey): ItemValue {
  const item = state.config(key)
  return item === undefined ? null : { content: item.content.toString(), historyId: item.historyId }
}

function knownGray(state: State, key: ConfigKey): GrayValue {
  const version = grayNamed(state.record(GRAY, key.text), 'beta')
  if (version === undefined) return null
  const text = grayContentOf(state, version.textId)?.toString() ?? 'lost'
  return { text, addresses: version.rule.expr }
}

function knownService(state: State, key: ServiceKey): ServiceValue {
  const service = state.service(key)
  if (service === undefined) return null
  const instances = Array.from(state.instances(key), ({ record, healthy }): [string, InstanceValue] => [
    addressText(record.address),
    { weight: record.weight, healthy },
  ])
  return { madeBy: service.madeBy, instances: Object.fromEntries(instances) }
}

function knownAccess(state: State): AccessValue {
  const users = Array.from(state.records(USER), ([name, user]): [string, number] => [
    name,
    user.credentialStamp,
  ])
  const sessions = Array.from(state.records(SESSION), ([id, session]): [string, string] => [
    id,
    session.username,
  ])
  return {
    users: Object.fromEntries(users),
    administrators: Array.from(state.records(USER_ROLE), ([, { username }]) => username).sort(),
    sessions: Object.fromEntries(sessions),
  }
}
