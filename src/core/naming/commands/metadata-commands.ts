import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, storing, synced } from '../../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { Refusal } from '../../refusal.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import type { InstanceAddress, InstanceRecord, Metadata } from '../state/instance.ts'
import { REMEMBERED_METADATA, type RememberedMetadata, rememberedId } from '../state/remembered-metadata.ts'
import { saveInFull, serviceSubject } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

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
}

/** Writes the keys over the metadata of the instances meant, and remembers them. Answers who they are. */
export function updateMetadata(batch: MetadataBatch): Command<KnownInstance[]> {
  return storing(serviceSubject(batch.serviceKey), 0, (view, now) => {
    const { serviceKey, keys, maxBytes } = batch
    const meant = instancesMeant(view, batch)
    const changes = meant.flatMap(({ record }) =>
      rememberKeys(view, { serviceKey, record, keys, maxBytes, stamp: now.stamp }),
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

/** Metadata to write over an instance. */
export interface KeysToRemember {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  /** Over its metadata. */
  readonly keys: Metadata
  readonly weight?: number | undefined
  readonly enabled?: boolean | undefined
  readonly maxBytes: number
  readonly stamp: number
}

/** The changes that write metadata over an instance; empty if it has it already. Refuses too much metadata. */
export function rememberKeys(view: View, input: KeysToRemember): Change[] {
  const { serviceKey, record, keys, stamp, maxBytes } = input
  const { address } = record
  const id = rememberedId({ serviceKey, address })
  const before = view.record(REMEMBERED_METADATA, id) ?? { serviceKey, address, metadata: {} }
  const { weight = before.weight, enabled = before.enabled } = input
  const isKnown = Object.keys(keys).every((name) => before.metadata[name] === keys[name])
  if (isKnown && weight === before.weight && enabled === before.enabled) return []
  const metadata = { ...before.metadata, ...keys }
  if (!isKnown) refuseTooMuchMetadata({ ...record.registered, ...metadata }, maxBytes)
  const value = {
    serviceKey,
    address,
    metadata,
    ...(weight === undefined ? {} : { weight }),
    ...(enabled === undefined ? {} : { enabled }),
  }
  return [recordSaved(REMEMBERED_METADATA, { id, value, stamp })]
}

/** Throws Refusal if an instance would have more metadata than this. */
export function refuseTooMuchMetadata(metadata: Metadata, maxBytes: number): void {
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
  const id = rememberedId({ serviceKey, address: record.address })
  const before = view.record(REMEMBERED_METADATA, id)
  if (before !== undefined && holdsAny(before.metadata, keys)) {
    const value = { ...before, metadata: without(before.metadata, keys) }
    if (isNothing(value)) changes.push(recordRemoved(REMEMBERED_METADATA, id, stamp))
    else changes.push(recordSaved(REMEMBERED_METADATA, { id, value, stamp }))
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

function isNothing({ metadata, weight, enabled }: RememberedMetadata): boolean {
  return Object.keys(metadata).length === 0 && weight === undefined && enabled === undefined
}

function holdsAny(metadata: Metadata, keys: Metadata): boolean {
  return Object.keys(keys).some((name) => Object.hasOwn(metadata, name))
}

function without(metadata: Metadata, keys: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !Object.hasOwn(keys, name)))
}
