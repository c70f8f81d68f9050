import { fieldsOf, textIn } from '../../records/shape.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import { addressText, type Metadata } from './instance.ts'
import type { InstancePlace } from './presence.ts'
import { type ServiceKey, serviceKeyText } from './service.ts'

/**
 * The fields that operators wrote over an address, at least one. They hold over every registration of a connection, because
 * its client registers again by itself whenever it connects. Weight and enabled do not hold over other registrations.
 */
export interface RememberedMetadata extends InstancePlace {
  /** Keys over the metadata of the instance (interface.md, state rule 3). */
  readonly metadata: Metadata
  readonly weight?: number
  readonly enabled?: boolean
}

/** Remembered metadata; the id is `rememberedId`. Since when an instance is absent is known to `Presence`. */
export const REMEMBERED_METADATA = defineRecordKind<RememberedMetadata>('remembered-metadata', (json) => {
  const fields = fieldsOf(json)
  return {
    ...placeIn(fields),
    metadata: metadataIn(fieldsOf(fields['metadata'])),
    ...(typeof fields['weight'] === 'number' ? { weight: fields['weight'] } : {}),
    ...(typeof fields['enabled'] === 'boolean' ? { enabled: fields['enabled'] } : {}),
  }
})

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
export function placeIn(fields: Readonly<Record<string, unknown>>): InstancePlace {
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

function metadataIn(fields: Readonly<Record<string, unknown>>): Metadata {
  for (const name of Object.keys(fields)) textIn(fields, name)
  return fields as Metadata
}
