import {
  flag,
  fieldsOf,
  list,
  map,
  number,
  object,
  optional,
  orNull,
  text,
  textIn,
} from '../../records/shape.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import { addressText, type InstanceRecord, type Metadata } from './instance.ts'
import type { InstancePlace } from './presence.ts'
import { type ServiceKey, serviceKeyText } from './service.ts'

/** Weight and enabled, as an application registers them. */
export type Said = Pick<InstanceRecord, 'weight' | 'enabled'>

/** The registration of an instance that silence has removed. */
export type Silenced = Said & Pick<InstanceRecord, 'registered' | 'app'>

/** One request of an operator: the fields that hold because of it, and who asked, if somebody was signed in. */
export interface Setting {
  /** `weight`, `enabled`, or `metadata.` and a key. */
  readonly fields: readonly string[]
  /** Epoch ms. */
  readonly atMs: number
  readonly user: string | null
  readonly ip: string
}

/**
 * The remembered facts of an address: the fields that operators wrote over it, and the registration that silence removed. Weight
 * and enabled hold over each registration of a connection, because its client registers again by itself. A registration over HTTP
 * ends them, unless it repeats the one that silence removed.
 */
export interface RememberedMetadata extends InstancePlace {
  /** Keys over the metadata of the instance (interface.md, state rule 3). */
  readonly metadata: Metadata
  readonly weight?: number | undefined
  readonly enabled?: boolean | undefined
  /** The values under weight and enabled, while one of the two is set. Absent: unknown. */
  readonly said?: Said | undefined
  /** The requests that have set the fields. The author of any other field is unknown. */
  readonly settings?: readonly Setting[] | undefined
  /** Only while no registration over HTTP is there, or weight or enabled lies over one that came back. */
  readonly silenced?: Silenced | undefined
  /** True: its client has said goodbye after silence had removed it. All servers learn it so. */
  readonly left?: boolean | undefined
}

const SAID = { weight: number, enabled: flag }
const STORED = object<Omit<RememberedMetadata, keyof InstancePlace>>({
  metadata: map(text),
  weight: optional(number),
  enabled: optional(flag),
  said: optional(object(SAID)),
  settings: optional(list(object({ fields: list(text), atMs: number, user: orNull(text), ip: text }))),
  silenced: optional(object({ ...SAID, registered: map(text), app: text })),
  left: optional(flag),
})

/** Remembered metadata; the id is `rememberedId`. Since when an instance is absent is known to `Presence`. */
export const REMEMBERED_METADATA = defineRecordKind<RememberedMetadata>(
  'remembered-metadata',
  (json) => ({ ...placeIn(fieldsOf(json)), ...withoutUndefined(STORED(json)) }),
  // Very many instances may fall silent together.
  { isReadOneByOne: true },
)

const KEY = 'metadata.'

/** The settings of fields that are still set. */
export function settingsInUse(remembered: RememberedMetadata): Setting[] | undefined {
  const { settings = [], metadata, weight, enabled } = remembered
  const isSet = (field: string): boolean => {
    if (field === 'weight') return weight !== undefined
    return field === 'enabled' ? enabled !== undefined : Object.hasOwn(metadata, field.slice(KEY.length))
  }
  const left = settings
    .map((one) => ({ ...one, fields: one.fields.filter(isSet) }))
    .filter(({ fields }) => fields.length > 0)
  return left.length === 0 ? undefined : left
}

/** The name of a key of the metadata among {@link Setting.fields}. */
export function keyField(key: string): string {
  return `${KEY}${key}`
}

/** Whether an operator has set weight or enabled. */
export function hasOver({ weight, enabled }: RememberedMetadata): boolean {
  return weight !== undefined || enabled !== undefined
}

/** Weight and enabled as the application says, where an operator's value is in force over them. */
export function saidUnder(record: Said, { weight, enabled, said }: RememberedMetadata): Partial<Said> {
  return {
    ...(said !== undefined && weight === record.weight ? { weight: said.weight } : {}),
    ...(said !== undefined && enabled === record.enabled ? { enabled: said.enabled } : {}),
  }
}

/** The rest, once weight, enabled and the time without the instance count no longer. */
export function keysAlone(known: RememberedMetadata): RememberedMetadata {
  return withoutOver(isBack(known))
}

/** The rest, once weight and enabled count no longer. */
export function withoutOver(known: RememberedMetadata): RememberedMetadata {
  return { ...known, weight: undefined, enabled: undefined, said: undefined }
}

/** Whether something is known of the time without the instance. */
export function isAway({ silenced, left }: RememberedMetadata): boolean {
  return silenced !== undefined || left !== undefined
}

/** The same once the instance is there again. */
export function isBack(known: RememberedMetadata): RememberedMetadata {
  return { ...known, silenced: undefined, left: undefined }
}

/** The same without the fields that are undefined. */
export function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T
}

/** The id of the record of a place. */
export function rememberedId({ serviceKey, address }: InstancePlace): string {
  return `${serviceKeyText(serviceKey)}\u0002${addressText(address)}`
}

/** The service of the place whose record has this id. */
export function serviceOfRememberedId(id: string): ServiceKey {
  const [namespaceId = '', groupedName = ''] = id.split('\u0002')
  return { namespaceId, groupedName }
}

/** The place in the fields of a record. */
function placeIn(fields: Readonly<Record<string, unknown>>): InstancePlace {
  return {
    serviceKey: serviceKeyIn(fieldsOf(fields['serviceKey'])),
    address: addressIn(fieldsOf(fields['address'])),
  }
}

function serviceKeyIn(fields: Readonly<Record<string, unknown>>) {
  return { namespaceId: textIn(fields, 'namespaceId'), groupedName: textIn(fields, 'groupedName') }
}

function addressIn(fields: Readonly<Record<string, unknown>>) {
  const { port } = fields
  if (typeof port !== 'number') throw new Error('its port is not a number')
  return { ip: textIn(fields, 'ip'), port, cluster: textIn(fields, 'cluster') }
}
