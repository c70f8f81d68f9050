import type { TSchema } from 'typebox'

/** The same parameter under further names, read in this order where its own is absent or empty. */
export function withAliases<T extends TSchema>(field: T, ...aliases: string[]): T {
  return variation(field, { aliases })
}

/** The same parameter with a default: always present for the handler. */
export function withDefault<T extends TSchema>(field: T, value: string | number | boolean): T {
  return variation(field, { default: value })
}

/** The same parameter with another description. */
export function withDescription<T extends TSchema>(field: T, description: string): T {
  return variation(field, { description })
}

/** The same parameter where '' is a value and not absence. */
export function allowingEmpty<T extends TSchema>(field: T): T {
  return variation(field, { allowEmpty: true })
}

/** A copy that keeps what TypeBox notes beside the keywords (its kind, that it is optional). */
function variation<T extends TSchema>(field: T, change: object): T {
  const descriptors = Object.getOwnPropertyDescriptors(field)
  return Object.assign(Object.create(Object.getPrototypeOf(field) as object, descriptors) as T, change)
}
