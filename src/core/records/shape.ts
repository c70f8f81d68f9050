/**
 * Reads a value of JSON, and returns it with its type. Throws a ShapeError for any other value; its message has the
 * path and the expected value: `clusters 0 port must be …`.
 */
export type Shape<T> = (value: unknown) => T

/** A shape for each field of an object. */
export type Shapes<T> = { readonly [Field in keyof T]-?: Shape<T[Field]> }

/** All fields of an object, so that a list of the fields is complete. A missing field does not compile; an optional one may be undefined. */
export type Every<T> = { readonly [Field in keyof Required<T>]: T[Field] }

/** A value does not have its shape. */
export class ShapeError extends Error {}

export const text: Shape<string> = (value) => {
  if (typeof value === 'string') return value
  throw new ShapeError('must be a text')
}

export const flag: Shape<boolean> = (value) => {
  if (typeof value === 'boolean') return value
  throw new ShapeError('must be true or false')
}

/** A number that JSON can write: `1e999` is read as Infinity, and refused. */
export const number: Shape<number> = (value) => {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new ShapeError('must be a number')
}

export function wholeNumber(least: number, most: number): Shape<number> {
  return (value) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number
    throw new ShapeError(`must be a whole number from ${least} to ${most}`)
  }
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value) => (value === null ? null : shape(value))
}

/** A field that may be missing: its value is `missing` then, by default undefined. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined>
export function optional<T>(shape: Shape<T>, missing: T): Shape<T>
export function optional<T>(shape: Shape<T>, missing?: T): Shape<T | undefined> {
  return (value) => (value === undefined ? missing : shape(value))
}

export function oneOf<T extends string>(words: readonly T[]): Shape<T> {
  return (value) => {
    if (words.includes(value as T)) return value as T
    throw new ShapeError(`must be one of ${words.join(', ')}`)
  }
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value) => {
    if (Array.isArray(value)) return value.map(shape)
    throw new ShapeError('must be a list')
  }
}

/** An object with any keys, all of whose values have one shape. A key such as `__proto__` becomes a field like others. */
export function map<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value) => {
    const entries = Object.entries(fieldsOf(value))
    return Object.fromEntries(entries.map(([key, one]) => [key, within(key, () => shape(one))]))
  }
}

/** An object with any fields. */
export const fieldsOf: Shape<Readonly<Record<string, unknown>>> = (value) => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new ShapeError('must be an object')
}

/** An object with these fields. Fields that are not known are left out: a later version may have them. */
export function object<T>(shapes: Shapes<T>): Shape<T> {
  const entries = Object.entries(shapes) as [string, Shape<unknown>][]
  return (value) => {
    const given = fieldsOf(value)
    const read: Record<string, unknown> = {}
    // Several servers read each change: no function and no list for each field.
    let at = ''
    try {
      for (const [field, shape] of entries) {
        at = field
        read[field] = shape(given[field])
      }
    } catch (error) {
      throw inPlace(at, error)
    }
    return read as T
  }
}

/** Puts the name of a field, or of another place, before the message of a ShapeError. */
export function within<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw inPlace(place, error)
  }
}

function inPlace(place: string, error: unknown): unknown {
  return error instanceof ShapeError ? new ShapeError(`${place} ${error.message}`) : error
}

/** The text in a field. Throws a ShapeError that names the field. */
export function textIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  return within(name, () => text(fields[name]))
}

/** The number in a field. Throws a ShapeError that names the field. */
export function numberIn(fields: Readonly<Record<string, unknown>>, name: string): number {
  return within(name, () => number(fields[name]))
}
