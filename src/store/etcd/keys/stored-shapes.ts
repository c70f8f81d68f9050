import { CONFIG_TYPES, type ConfigItem, type ConfigOrigin } from '../../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../../core/config/state/config-notes.ts'
import { importMarkShape } from '../../../core/config/state/history-note.ts'
import { isStamp, stampOfId } from '../../../core/decisions/stamps.ts'
import {
  BEATS,
  type Claim,
  type InstanceRecord,
  OPERATOR,
  type Publisher,
} from '../../../core/naming/state/instance.ts'
import type { HealthChecker } from '../../../core/naming/state/health-checker.ts'
import type { Cluster, Selector, Service } from '../../../core/naming/state/service.ts'
import {
  fieldsOf,
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
  textIn,
  wholeNumber,
  within,
} from '../../../core/records/shape.ts'

/** The place of a content that is too large for its value: this number of chunks with this stamp. */
export interface ContentParts {
  readonly stamp: number
  readonly count: number
  /** The chunks of a gray version's text, which hold a record as JSON. `count` is then a minimum. */
  readonly of?: 'gray-text'
}

/** The facts of an item besides its content, as a value has them. */
export type ItemFacts = Omit<ConfigItem, 'key' | 'content'>

/** An instance as a value has it: the key has its address, and the state gives it a serial. */
export interface InstanceValue {
  /** Its ip as it was registered, where the key has another spelling of it. */
  readonly ip?: string
  readonly record: Omit<InstanceRecord, 'address' | 'serial'>
  readonly healthy: boolean
  /** Whether this write counts as a beat. */
  readonly beat: boolean
  readonly stamp: number
}

/** A service as a value has it. */
export interface ServiceValue {
  readonly service: Omit<Service, 'key' | 'serial'>
  readonly stamp: number
}

/** The last request of a server: its number, the process that sent it, and the stamp of its changes. */
export interface RequestValue {
  readonly number: number
  readonly process: string
  readonly stamp: number
}

/** A stamp that a server can have given: clocks follow no other one (`isStamp`). */
export const stamp: Shape<number> = (value) => {
  if (isStamp(value)) return value
  throw new ShapeError('must be a stamp that a clock can give')
}

/** The id of an item or a record, which is made of a stamp. */
const id: Shape<number> = (value) => {
  if (Number.isSafeInteger(value) && isStamp(stampOfId(value as number))) return value as number
  throw new ShapeError('must be an id that a clock can give')
}

const origin = object<ConfigOrigin>({
  id,
  createdMs: number,
  createUser: orNull(text),
  createIp: text,
})
const notes = object<ConfigNotes>({
  appName: text,
  desc: orNull(text),
  use: orNull(text),
  effect: orNull(text),
  schema: orNull(text),
  configTags: orNull(text),
  encryptedDataKey: text,
})

/** The facts of an item. */
export const itemShape = object<ItemFacts>({
  origin,
  historyId: id,
  md5: text,
  type: oneOf(CONFIG_TYPES),
  notes,
  modifiedMs: number,
  imported: optional(importMarkShape),
})

const MOST_PARTS = 999_999

/** The place of a content in chunks; undefined: it is in the value. */
export const partsShape: Shape<ContentParts | undefined> = optional((value) => {
  const { of, ...parts } = object<ContentParts>({
    stamp,
    count: wholeNumber(1, MOST_PARTS),
    of: optional(oneOf(['gray-text'])),
  })(value)
  return of === undefined ? parts : { ...parts, of }
})

const selector: Shape<Selector> = (value) => {
  const { type, expression } = fieldsOf(value)
  if (type === 'none') return { type }
  if (type !== 'label') throw new ShapeError('type must be one of none, label')
  return { type, expression: within('expression', () => text(expression)) }
}

const CHECKERS: Readonly<Record<string, Shape<object>>> = {
  TCP: fieldsOf,
  NONE: fieldsOf,
  HTTP: object({ path: text, headers: text, expectedResponseCode: number }),
  MYSQL: object({ user: text, pwd: text, cmd: text, publicKey: optional(text), ca: optional(text) }),
}

const checker: Shape<HealthChecker> = (value) => {
  const fields = fieldsOf(value)
  const type = within('type', () => oneOf(Object.keys(CHECKERS))(fields['type']))
  CHECKERS[type]!(fields)
  return fields as unknown as HealthChecker
}

const cluster = object<Cluster>({
  name: text,
  healthChecker: checker,
  checkPort: number,
  useInstancePort4Check: flag,
  metadata: map(text),
})

const service = object<Omit<Service, 'key' | 'serial'>>({
  protectThreshold: number,
  metadata: map(text),
  selector,
  clusters: map(cluster),
  madeBy: oneOf(['operator', 'registration']),
})

/** The value of a service. */
export const serviceShape = object<ServiceValue>({ service, stamp })

function publisherOf(value: unknown): Publisher {
  const fields = fieldsOf(value)
  const kind = within('kind', () => oneOf(['beats', 'connection', 'operator'])(fields['kind']))
  if (kind === 'connection') return { kind, id: textIn(fields, 'id') }
  return kind === 'beats' ? BEATS : OPERATOR
}

const claimsShape: Shape<Claim[]> = list(
  object<Claim>({
    publisher: publisherOf,
    weight: number,
    enabled: flag,
    registered: map(text),
    app: text,
    healthy: flag,
  }),
)

type StoredInstance = InstanceValue['record']

/** By hand: there are more instances than of all else, and a feed reads thousands in a second. */
function recordOf(value: unknown): StoredInstance {
  const { ephemeral, publisher, weight, enabled, registered, app, claims } = fieldsOf(value)
  if (typeof ephemeral !== 'boolean') throw new ShapeError('ephemeral must be true or false')
  if (typeof weight !== 'number') throw new ShapeError('weight must be a number')
  if (typeof enabled !== 'boolean') throw new ShapeError('enabled must be true or false')
  if (typeof app !== 'string') throw new ShapeError('app must be a text')
  const metadata = fieldsOf(registered)
  for (const name in metadata)
    if (typeof metadata[name] !== 'string') throw new ShapeError(`registered ${name} must be a text`)
  const record = {
    ephemeral,
    publisher: publisherOf(publisher),
    weight,
    enabled,
    registered: metadata as StoredInstance['registered'],
    app,
  }
  return claims === undefined ? record : { ...record, claims: claimsShape(claims) }
}

/** The value of an instance. */
export const instanceShape: Shape<InstanceValue> = (value) => {
  const fields = fieldsOf(value)
  const { healthy, beat, ip, stamp: at } = fields
  if (typeof healthy !== 'boolean') throw new ShapeError('healthy must be true or false')
  if (typeof beat !== 'boolean') throw new ShapeError('beat must be true or false')
  if (!isStamp(at)) throw new ShapeError('stamp must be a stamp that a clock can give')
  const read = { record: within('record', () => recordOf(fields['record'])), healthy, beat, stamp: at }
  if (ip === undefined) return read
  if (typeof ip !== 'string') throw new ShapeError('ip must be a text')
  return { ...read, ip }
}

/** The value of a server's last request. */
export const requestShape = object<RequestValue>({ number: wholeNumber(0, 2 ** 52), process: text, stamp })
