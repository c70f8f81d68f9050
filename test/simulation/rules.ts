import { USER } from '../../src/core/access/access-records.ts'
import type { NewSession } from '../../src/core/access/session-commands.ts'
import { type Change, type InstanceSaved, savedValue } from '../../src/core/decisions/changes.ts'
import { addressText } from '../../src/core/naming/state/instance.ts'
import type {
  AccessValue,
  Answer,
  GrayValue,
  InstanceValue,
  ItemValue,
  Rule,
  ServiceValue,
  Step,
} from './reference.ts'

/** The answer to a client whose operation has no result. */
const DONE = 'undefined'

/** The content of an item is set, if `casMd5` is the md5 of its content now (`''`: there is none) or undefined. */
export function published(content: string, casMd5: string | undefined): Rule<ItemValue> {
  return (item, changes) => {
    const md5 = item === null ? '' : `md5 of ${item.content}`
    if (casMd5 !== undefined && casMd5 !== md5) return stays(item, 'config-changed')
    if (item?.content === content) return stays(item, 'true')
    return { next: { content, historyId: historyIdIn(changes) }, answer: 'true' }
  }
}

/** An item is deleted, or was not there. */
export const deleted: Rule<ItemValue> = (item) =>
  item === null ? stays(item, 'true') : { next: null, answer: 'true' }

/** The text and the addresses of a gray version are set, if `casMd5` is the md5 of its text now or undefined. */
export function grayPublished(next: NonNullable<GrayValue>, casMd5: string | undefined): Rule<GrayValue> {
  return (gray) => {
    const md5 = gray === null ? '' : `md5 of ${gray.text}`
    if (casMd5 !== undefined && casMd5 !== md5) return stays(gray, 'config-changed')
    const isSame = gray?.text === next.text && gray.addresses === next.addresses
    return isSame ? stays(gray, 'true') : { next, answer: 'true' }
  }
}

/** A gray version is given to other addresses, if it is there. */
export function grayGrown(addresses: string): Rule<GrayValue> {
  return (gray) => {
    if (gray === null) return stays(gray, 'gray-not-found')
    return gray.addresses === addresses
      ? stays(gray, 'true')
      : { next: { ...gray, addresses }, answer: 'true' }
  }
}

/** A gray version ends; the answer is whether it was there. */
export const grayStopped: Rule<GrayValue> = (gray) =>
  gray === null ? stays(gray, 'false') : { next: null, answer: 'true' }

/** An item is deleted that has only a gray version. */
export const grayDeleted: Rule<GrayValue> = (gray) =>
  gray === null ? stays(gray, 'true') : { next: null, answer: 'true' }

/** An instance is registered, and its service made where it is not there. `isBeat`: what is there stays as it is. */
export function registered(where: string, instance: InstanceValue, isBeat = false): Rule<ServiceValue> {
  return (service) => {
    const { madeBy = 'registration', instances = {} } = service ?? {}
    const known = instances[where]
    const isSame = known?.weight === instance.weight && known.healthy === instance.healthy
    if (isSame || (isBeat && known !== undefined)) return stays(service, 'known')
    return { next: { madeBy, instances: { ...instances, [where]: instance } }, answer: 'registered' }
  }
}

/** An instance is removed, or was not there. */
export function deregistered(where: string): Rule<ServiceValue> {
  return (service) => {
    if (service?.instances[where] === undefined) return stays(service, 'ok')
    return { next: without(service, where), answer: 'ok' }
  }
}

/** The weight of an instance is changed. */
export function updated(where: string, weight: number): Rule<ServiceValue> {
  return (service) => {
    const known = service?.instances[where]
    if (!service || known === undefined) return stays(service, 'instance-not-found')
    if (known.weight === weight) return stays(service, 'ok')
    return { next: withInstance(service, where, { ...known, weight }), answer: 'ok' }
  }
}

/** An operator creates a service. */
export const serviceCreated: Rule<ServiceValue> = (service) =>
  service === null
    ? { next: { madeBy: 'operator', instances: {} }, answer: 'ok' }
    : stays(service, 'service-exists')

/** An operator deletes a service. */
export const serviceDeleted: Rule<ServiceValue> = (service) => {
  if (service === null) return stays(service, 'service-not-found')
  if (Object.keys(service.instances).length > 0) return stays(service, 'service-not-empty')
  return { next: null, answer: 'ok' }
}

/**
 * Changes of a server that no client has asked for: a beat heals an instance, silence makes one unhealthy or removes it,
 * an empty service leaves, and an instance that was removed although it beat comes back. The answer says what is wrong with
 * that; `DONE`: nothing is.
 */
export function ownChange(change: Change): Rule<ServiceValue> {
  return (service) => {
    if (service === null) return stays(service, `${change.kind} where no service is`)
    if (change.kind === 'service-deleted') {
      const isFree = service.madeBy === 'registration' && Object.keys(service.instances).length === 0
      return isFree ? { next: null, answer: DONE } : stays(service, 'a service in use is removed')
    }
    if (change.kind === 'instance-saved') return restored(service, change)
    if (change.kind !== 'instance-health-changed' && change.kind !== 'instance-removed')
      return stays(service, `${change.kind} by a server`)
    const where = addressText(change.address)
    const known = service.instances[where]
    if (known === undefined) return stays(service, 'the instance had left')
    if (change.kind === 'instance-removed') return { next: without(service, where), answer: DONE }
    return { next: withInstance(service, where, { ...known, healthy: change.healthy }), answer: DONE }
  }
}

function restored(
  service: NonNullable<ServiceValue>,
  { record, healthy }: InstanceSaved,
): Step<ServiceValue> {
  const where = addressText(record.address)
  if (service.instances[where] !== undefined) return stays(service, 'an instance that is there is restored')
  return {
    next: withInstance(service, where, { weight: record.weight, healthy: healthy ?? true }),
    answer: DONE,
  }
}

/** A user is made. */
export function userCreated(username: string): Rule<AccessValue> {
  return (access, changes) => {
    if (access.users[username] !== undefined) return stays(access, 'user-exists')
    const [stamp = 0] = changes.flatMap((change) => savedValue(USER, change)?.credentialStamp ?? [])
    return { next: { ...access, users: { ...access.users, [username]: stamp } }, answer: DONE }
  }
}

/** A user becomes an administrator. */
export function promoted(username: string): Rule<AccessValue> {
  return (access) => {
    if (access.users[username] === undefined) return stays(access, 'user-not-found')
    if (access.administrators.includes(username)) return stays(access, DONE)
    return { next: { ...access, administrators: [...access.administrators, username].sort() }, answer: DONE }
  }
}

/** A user is an administrator no more; the last one stays. False: there is nothing more to do. */
export function demoted(username: string): Rule<AccessValue> {
  return (access) => {
    if (!access.administrators.includes(username)) return stays(access, 'false')
    if (access.administrators.length === 1) return stays(access, 'last-administrator')
    return { next: withoutAdministrator(access, username), answer: 'false' }
  }
}

/** A user is removed, with its sessions; the last administrator stays. The answer says that nothing is left. */
export function userRemoved(username: string): Rule<AccessValue> {
  return (access) => {
    if (access.users[username] === undefined) return stays(access, 'user-not-found')
    if (access.administrators.includes(username) && access.administrators.length === 1)
      return stays(access, 'last-administrator')
    const { [username]: _removed, ...users } = access.users
    const kept = Object.entries(access.sessions).filter(([, owner]) => owner !== username)
    const sessions = Object.fromEntries(kept)
    return { next: { ...withoutAdministrator(access, username), users, sessions }, answer: 'false' }
  }
}

/** A user signs in, with the password that has this stamp. */
export function sessionBegun({ id, username, credentialStamp }: NewSession): Rule<AccessValue> {
  return (access) => {
    if (access.users[username] !== credentialStamp) return stays(access, 'false')
    return { next: { ...access, sessions: { ...access.sessions, [id]: username } }, answer: 'true' }
  }
}

/** A session ends, if there is one. */
export function sessionEnded(id: string): Rule<AccessValue> {
  return (access) => {
    if (access.sessions[id] === undefined) return stays(access, DONE)
    const { [id]: _ended, ...sessions } = access.sessions
    return { next: { ...access, sessions }, answer: DONE }
  }
}

function stays<Value>(value: Value, answer: Answer): Step<Value> {
  return { next: value, answer }
}

function historyIdIn(changes: readonly Change[]): number {
  const [id = 0] = changes.flatMap((change) =>
    change.kind === 'config-published' ? [change.item.historyId] : [],
  )
  return id
}

function withInstance(
  service: NonNullable<ServiceValue>,
  where: string,
  instance: InstanceValue,
): ServiceValue {
  return { ...service, instances: { ...service.instances, [where]: instance } }
}

function without(service: NonNullable<ServiceValue>, where: string): ServiceValue {
  const { [where]: _removed, ...instances } = service.instances
  return { ...service, instances }
}

function withoutAdministrator(access: AccessValue, username: string): AccessValue {
  return { ...access, administrators: access.administrators.filter((name) => name !== username) }
}
