import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, storing, synced } from '../../decisions/decision.ts'
import type { Now } from '../../decisions/stamps.ts'
import { Refusal } from '../../refusal.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import type { InstanceAddress, InstanceRecord, Metadata } from '../state/instance.ts'
import {
  hasOver,
  keyField,
  type RememberedMetadata,
  type Said,
  type Setting,
} from '../state/remembered-metadata.ts'
import { ownText, ownTextOrNull } from '../../text/own-text.ts'
import { besides, rememberingChanges } from '../liveness/remembering.ts'
import { publishersOf } from '../state/claims.ts'
import { saveInFull, serviceSubject } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'
import type { Actor } from '../timeline/timeline-entry.ts'

/** Where an instance of a batch is. */
export interface InstanceLocator extends InstanceAddress {
  readonly ephemeral: boolean
}

/**
 * Selects the instances of a service for a batch: by kind, or by name. With a kind the names are
 * ignored; any other word for the kind means no instance (interface.md, batch metadata, rules 1 to 4).
 */
export interface MetadataBatch {
  readonly serviceKey: ServiceKey
  readonly consistencyType: string | undefined
  readonly instances: readonly InstanceLocator[]
  readonly keys: Metadata
  /** The most metadata that an instance may have, in bytes of UTF-8. */
  readonly maxBytes: number
  /** The caller. */
  readonly actor?: Actor
}

/** Writes the keys over the metadata of the instances meant, and remembers them. Answers who they are. */
export function updateMetadata(batch: MetadataBatch): Command<KnownInstance[]> {
  return storing(serviceSubject(batch.serviceKey), 0, (view, now) => {
    const { serviceKey, keys, maxBytes, actor } = batch
    const meant = instancesMeant(view, batch)
    const changes = meant.flatMap(({ record }) =>
      rememberKeys(view, { serviceKey, record, keys, maxBytes, actor, now }),
    )
    return synced(changes, meant)
  })
}

/** Removes the keys from the metadata of the instances meant, remembered or registered. Answers who they are. */
export function deleteMetadata(batch: MetadataBatch): Command<KnownInstance[]> {
  return commandOn(serviceSubject(batch.serviceKey), (view, now) => {
    const meant = instancesMeant(view, batch)
    return synced(
      meant.flatMap((known) => forgetKeys(view, batch, { known, stamp: now.stamp })),
      meant,
    )
  })
}

/** Fields to write over an instance. */
export interface KeysToRemember {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  /** Over its metadata. */
  readonly keys: Metadata
  readonly weight?: number | undefined
  readonly enabled?: boolean | undefined
  readonly actor?: Actor | undefined
  readonly maxBytes: number
  readonly now: Now
}

/** The changes that write fields over an instance; empty if it has them already. Refuses too much metadata. */
export function rememberKeys(view: View, input: KeysToRemember): Change[] {
  const { serviceKey, record, keys, now, maxBytes } = input
  const place = { serviceKey, address: record.address }
  const known = view.remembered(place)
  const before = known ?? { ...place, metadata: {} }
  const said = hasOver(before) ? before.said : { weight: record.weight, enabled: record.enabled }
  const { weight, enabled } = overAfter(before, input, said)
  const newKeys = Object.keys(keys).filter((name) => before.metadata[name] !== keys[name])
  if (newKeys.length === 0 && weight === before.weight && enabled === before.enabled) return []
  const metadata = { ...before.metadata, ...keys }
  if (newKeys.length > 0) refuseTooMuchMetadata({ ...record.registered, ...metadata }, maxBytes)
  const fields = newKeys.map(keyField)
  if (weight !== before.weight) fields.push('weight')
  if (enabled !== before.enabled) fields.push('enabled')
  const value = { ...before, metadata, weight, enabled, settings: settingsAfter(before, fields, input) }
  const after = { ...value, said: hasOver(value) ? said : undefined }
  return rememberingChanges(known, besides(record, after), now.stamp)
}

type Over = Pick<RememberedMetadata, 'weight' | 'enabled'>

/**
 * Weight and enabled as they are set then. Only the client of a connection registers again by itself: elsewhere, the value that
 * the application has given is no setting.
 */
function overAfter(before: Over, { record, ...set }: KeysToRemember, said: Said | undefined): Over {
  const isOver = publishersOf(record).some(({ kind }) => kind === 'connection')
  const { weight = before.weight, enabled = before.enabled } = set
  return {
    weight: isOver || weight !== said?.weight ? weight : undefined,
    enabled: isOver || enabled !== said?.enabled ? enabled : undefined,
  }
}

/** The settings once these fields are set; where nobody is known who set them, the ones before count no longer. */
function settingsAfter(
  { settings = [] }: RememberedMetadata,
  fields: readonly string[],
  { actor, now }: KeysToRemember,
): Setting[] {
  const others = settings.map((one) => ({
    ...one,
    fields: one.fields.filter((name) => !fields.includes(name)),
  }))
  if (actor === undefined) return others
  return [{ fields, atMs: now.wallMs, user: ownTextOrNull(actor.user), ip: ownText(actor.ip) }, ...others]
}

/** Throws Refusal if an instance would have more metadata than this. */
export function refuseTooMuchMetadata(metadata: Metadata, maxBytes: number): void {
  // A UTF-16 unit is at most three bytes, so only much metadata has to be measured.
  let characters = 0
  for (const name in metadata) characters += name.length + metadata[name]!.length
  if (characters * 3 <= maxBytes) return
  let bytes = 0
  for (const [name, value] of Object.entries(metadata))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  if (bytes <= maxBytes) return
  const allowed = `at most ${maxBytes} bytes of UTF-8 in the keys and values of an instance together`
  throw new Refusal('invalid-parameter', `The instance's metadata would have ${bytes} bytes.`, {
    parameter: 'metadata',
    allowed,
  })
}

function forgetKeys(
  view: View,
  batch: MetadataBatch,
  one: { known: KnownInstance; stamp: number },
): Change[] {
  const { serviceKey, keys } = batch
  const { known, stamp } = one
  const { record } = known
  const changes: Change[] = []
  const before = view.remembered({ serviceKey, address: record.address })
  if (before !== undefined && holdsAny(before.metadata, keys)) {
    const value = { ...before, metadata: without(before.metadata, keys) }
    changes.push(...rememberingChanges(before, value, stamp))
  }
  if (holdsAny(record.registered, keys)) {
    const changed = { ...record, registered: without(record.registered, keys) }
    changes.push(saveInFull(view, serviceKey, { record: changed, healthy: undefined, stamp }))
  }
  return changes
}

/** The instances that a batch means. */
export function instancesMeant(view: View, batch: MetadataBatch): KnownInstance[] {
  const { serviceKey, consistencyType, instances } = batch
  if (consistencyType !== undefined) {
    return [...view.instances(serviceKey)].filter(
      ({ record }) => consistencyTypeOf(record) === consistencyType,
    )
  }
  return instances
    .map((locator) => ({ locator, known: view.instance(serviceKey, locator) }))
    .flatMap(({ locator, known }) => (known?.record.ephemeral === locator.ephemeral ? [known] : []))
}

/** How batch operations call the kind of an instance. */
export function consistencyTypeOf(record: InstanceRecord): 'ephemeral' | 'persist' {
  return record.ephemeral ? 'ephemeral' : 'persist'
}

function holdsAny(metadata: Metadata, keys: Metadata): boolean {
  return Object.keys(keys).some((name) => Object.hasOwn(metadata, name))
}

function without(metadata: Metadata, keys: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !Object.hasOwn(keys, name)))
}
