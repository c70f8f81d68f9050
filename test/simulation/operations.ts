import { type Arbitrary, constantFrom, oneof, record } from 'fast-check'
import { addRole, createUser, removeRole, removeUser } from '../../src/core/access/access-commands.ts'
import { ADMINISTRATOR_ROLE, USER } from '../../src/core/access/access-records.ts'
import { beginSession, endSession } from '../../src/core/access/session-commands.ts'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { stopGray } from '../../src/core/config/commands/end-gray.ts'
import { growGray, publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { betaRule } from '../../src/core/config/state/gray-rule.ts'
import { address, publishing, registration } from '../../src/core/core.test-support.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { addressText, type InstanceAddress } from '../../src/core/naming/state/instance.ts'
import { deregisterInstance, modifyInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { createService, deleteService } from '../../src/core/naming/commands/service-commands.ts'
import type { State } from '../../src/core/engine/state.ts'
import * as rules from './rules.ts'
import { ACCESS, grayObject, itemObject, keyOf, serviceKeyOf, serviceObject } from './known-values.ts'
import type { Rule } from './reference.ts'

/** The request of a client. */
export interface Operation {
  readonly title: string
  /** The object of the reference that it reads and changes. */
  readonly object: string
  /** The command of a server that knows this state. */
  readonly asked: (state: State) => Asked
}

/** The command that a server executes, and what a correct installation does. */
interface Asked {
  readonly command: Command<unknown>
  readonly rule: Rule
}

/** An operation whose rule is for values of the kind of its object. */
function operation<Value>(
  title: string,
  { object, rule }: { object: string; rule: Rule<Value> },
  command: () => Command<unknown>,
): Operation {
  return { title, object, asked: () => ({ command: command(), rule: rule as Rule }) }
}

/** Sets the content of an item; `casMd5`: only if its content has this md5 now. */
function publish(dataId: string, content: string, casMd5?: string): Operation {
  const key = keyOf(dataId)
  const title = `publish ${dataId} = ${content}${casMd5 === undefined ? '' : ` if it is "${casMd5}"`}`
  const rule = rules.published(content, casMd5)
  return operation(title, { object: itemObject(key), rule }, () =>
    publishConfig(publishing(content, { key, casMd5 })),
  )
}

/** Deletes an item. */
function remove(dataId: string): Operation {
  const key = keyOf(dataId)
  return operation(`delete ${dataId}`, { object: itemObject(key), rule: rules.deleted }, () =>
    deleteConfig(key, { ip: '', user: null }),
  )
}

const NOBODY = { ip: '', user: null }
/** Only gray versions are published of it, and it has no other name than these. */
const GRAY_ITEM = keyOf('g')
const GRAY_NAME = { key: GRAY_ITEM, name: 'beta', operator: NOBODY }

/** Sets the text of the gray version; `casMd5`: only if its text has this md5 now. */
function publishForSome(text: string, addresses: string, casMd5?: string): Operation {
  const title = `publish ${text} for ${addresses}${casMd5 === undefined ? '' : ` if it is "${casMd5}"`}`
  const rule = rules.grayPublished({ text, addresses }, casMd5)
  const texts = { content: Buffer.from(text), md5: `md5 of ${text}`, type: undefined, encryptedDataKey: '' }
  return operation(title, { object: grayObject(GRAY_ITEM), rule }, () =>
    publishGray({ ...GRAY_NAME, ...texts, rule: betaRule(addresses), casMd5 }),
  )
}

function growTo(addresses: string): Operation {
  const object = grayObject(GRAY_ITEM)
  return operation(`grow to ${addresses}`, { object, rule: rules.grayGrown(addresses) }, () =>
    growGray({ ...GRAY_NAME, expr: addresses }),
  )
}

/** Ends the gray version by itself, or with its item. */
function endGray(how: 'stop' | 'delete'): Operation {
  const rule = how === 'stop' ? rules.grayStopped : rules.grayDeleted
  return operation(`${how} the gray version`, { object: grayObject(GRAY_ITEM), rule }, () =>
    how === 'stop' ? stopGray(GRAY_NAME) : deleteConfig(GRAY_ITEM, NOBODY),
  )
}

/** Registers an ephemeral instance that beats. */
export function register(
  service: string,
  place: InstanceAddress,
  { weight = 1, healthy = true, metadata = {}, isBeat = false } = {},
): Operation {
  const serviceKey = serviceKeyOf(service)
  const where = addressText(place)
  const title = `${isBeat ? 'beat' : 'register'} ${where} in ${service}, weight ${weight}${healthy ? '' : ', unhealthy'}`
  const object = serviceObject(serviceKey)
  return operation(title, { object, rule: rules.registered(where, { weight, healthy }, isBeat) }, () =>
    registerInstance(registration({ serviceKey, address: place, weight, healthy, metadata, isBeat })),
  )
}

function deregister(service: string, place: InstanceAddress): Operation {
  const serviceKey = serviceKeyOf(service)
  const rule = rules.deregistered(addressText(place))
  const title = `deregister ${addressText(place)} of ${service}`
  return operation(title, { object: serviceObject(serviceKey), rule }, () =>
    deregisterInstance({ serviceKey, address: place, ephemeral: undefined }),
  )
}

function update(service: string, place: InstanceAddress, weight: number): Operation {
  const serviceKey = serviceKeyOf(service)
  const rule = rules.updated(addressText(place), weight)
  const patch = { weight, enabled: undefined, metadata: undefined, maxMetadataBytes: 1_000 }
  const title = `update ${addressText(place)} of ${service}, weight ${weight}`
  return operation(title, { object: serviceObject(serviceKey), rule }, () =>
    modifyInstance({ serviceKey, address: place, ephemeral: undefined }, patch),
  )
}

function create(service: string): Operation {
  const key = serviceKeyOf(service)
  const settings = { protectThreshold: undefined, metadata: undefined, selector: undefined }
  return operation(
    `create service ${service}`,
    { object: serviceObject(key), rule: rules.serviceCreated },
    () => createService(key, settings),
  )
}

function deleteEmpty(service: string): Operation {
  const key = serviceKeyOf(service)
  return operation(
    `delete service ${service}`,
    { object: serviceObject(key), rule: rules.serviceDeleted },
    () => deleteService(key),
  )
}

/** Makes a user without roles. */
export function addUser(username: string): Operation {
  const rule = rules.userCreated(username)
  return operation(`create user ${username}`, { object: ACCESS, rule }, () =>
    createUser({ username, passwordHash: 'hash' }),
  )
}

/** Makes a user an administrator. */
export function promote(username: string): Operation {
  const rule = rules.promoted(username)
  return operation(`make ${username} administrator`, { object: ACCESS, rule }, () =>
    addRole({ username, role: ADMINISTRATOR_ROLE }),
  )
}

function demote(username: string): Operation {
  const rule = rules.demoted(username)
  return operation(`make ${username} no administrator`, { object: ACCESS, rule }, () =>
    removeRole(ADMINISTRATOR_ROLE, username),
  )
}

function dropUser(username: string): Operation {
  const rule = rules.userRemoved(username)
  return operation(`remove user ${username}`, { object: ACCESS, rule }, () => removeUser(username))
}

function signIn(id: string, username: string): Operation {
  const asked = (state: State): Asked => {
    const credentialStamp = state.record(USER, username)?.credentialStamp ?? 0
    const session = { id, username, credentialStamp }
    return { command: beginSession(session), rule: rules.sessionBegun(session) as Rule }
  }
  return { title: `begin session ${id} of ${username}`, object: ACCESS, asked }
}

function signOut(id: string): Operation {
  return operation(`end session ${id}`, { object: ACCESS, rule: rules.sessionEnded(id) }, () =>
    endSession(id),
  )
}

export const SERVICES = ['orders', 'bills'] as const
export const PLACES = [1, 2].map((port) => address({ port }))
export const ITEMS = ['a', 'b'] as const
const USERS = ['ann', 'bob'] as const

const dataId = constantFrom(...ITEMS)
const content = constantFrom('x', 'y', 'z')
const casMd5 = constantFrom(undefined, '', 'md5 of x', 'md5 of y', 'md5 of z')
const service = constantFrom(...SERVICES)
const place = constantFrom(...PLACES)
const weight = constantFrom(1, 2)
const user = constantFrom(...USERS)
const session = constantFrom('s', 't')

const ofItems = oneof(
  {
    weight: 4,
    arbitrary: record({ dataId, content, casMd5 }).map((one) => publish(one.dataId, one.content, one.casMd5)),
  },
  { weight: 1, arbitrary: dataId.map(remove) },
)

const addresses = constantFrom('10.0.0.1', '10.0.0.1,10.0.0.2')

const ofGray = oneof(
  {
    weight: 4,
    arbitrary: record({ content, addresses, casMd5 }).map((one) =>
      publishForSome(one.content, one.addresses, one.casMd5),
    ),
  },
  { weight: 2, arbitrary: addresses.map(growTo) },
  { weight: 1, arbitrary: constantFrom('stop' as const, 'delete' as const).map(endGray) },
)

const ofServices = oneof(
  {
    weight: 4,
    arbitrary: record({ service, place, weight, healthy: constantFrom(true, true, false) }).map((one) =>
      register(one.service, one.place, one),
    ),
  },
  { weight: 2, arbitrary: record({ service, place }).map((one) => deregister(one.service, one.place)) },
  {
    weight: 2,
    arbitrary: record({ service, place, weight }).map((one) => update(one.service, one.place, one.weight)),
  },
  { weight: 1, arbitrary: service.map(create) },
  { weight: 1, arbitrary: service.map(deleteEmpty) },
)

const ofUsers = oneof(
  user.map(addUser),
  user.map(promote),
  user.map(demote),
  user.map(dropUser),
  record({ session, user }).map((one) => signIn(one.session, one.user)),
  session.map(signOut),
)

/** Any operation, on so few objects that they meet. */
export const anyOperation: Arbitrary<Operation> = oneof(
  { weight: 3, arbitrary: ofItems },
  { weight: 2, arbitrary: ofGray },
  { weight: 3, arbitrary: ofServices },
  { weight: 2, arbitrary: ofUsers },
)
