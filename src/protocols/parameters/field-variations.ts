import type { FieldSchema } from './parameter-field.ts'
import type { Schema } from './schema.ts'

/** The same parameter under further names, read in this order where its own is absent or empty. */
export function withAliases<T extends Schema>(field: T, ...aliases: string[]): T {
  return variation(field, { aliases })
}

/** The same parameter with a default: always present for the handler. */
export function withDefault<T extends Schema>(field: T, value: string | number | boolean): T {
  return variation(field, { default: value })
}

/** The same parameter with another description. */
export function withDescription<T extends Schema>(field: T, description: string): T {
  return variation(field, { description })
}

/** The same parameter where '' is a value and not absence. */
export function allowingEmpty<T extends Schema>(field: T): T {
  return variation(field, { allowEmpty: true })
}

function variation<T extends Schema>(field: T, change: Partial<FieldSchema>): T {
  return { ...field, ...change }
}
