import type { Instance } from '../../core/naming/state/service-entry.ts'
import {
  keyField,
  REMEMBERED_METADATA,
  rememberedId,
  saidUnder,
  type Setting,
} from '../../core/naming/state/remembered-metadata.ts'
import type { RecordView } from '../../core/records/record-tables.ts'

/** A field of an instance that an operator has set. */
export interface Override {
  /** `weight`, `enabled`, or `metadata.` and a key. */
  readonly field: string
  readonly value: string
  /** The value of the application; undefined: it gives none, or that is unknown. */
  readonly said: string | undefined
  /** Undefined: unknown. */
  readonly setting: Setting | undefined
}

type Value = string | number | boolean

/** The fields of an instance that operators have set, as far as they are in force. */
export function overridesOf(state: RecordView, { entry, record }: Instance): Override[] {
  const id = rememberedId({ serviceKey: entry.service.key, address: record.address })
  const over = state.record(REMEMBERED_METADATA, id)
  if (over === undefined) return []
  const said = saidUnder(record, over)
  const fields: [field: string, value: Value, said: Value | undefined][] = []
  if (over.weight !== undefined && over.weight === record.weight)
    fields.push(['weight', over.weight, said.weight])
  if (over.enabled !== undefined && over.enabled === record.enabled)
    fields.push(['enabled', over.enabled, said.enabled])
  for (const [key, value] of Object.entries(over.metadata))
    fields.push([keyField(key), value, ownValue(record.registered, key)])
  return fields.map(([field, value, other]) => ({
    field,
    value: String(value),
    said: other === undefined ? undefined : String(other),
    setting: over.settings?.find((one) => one.fields.includes(field)),
  }))
}

function ownValue(metadata: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined
}
