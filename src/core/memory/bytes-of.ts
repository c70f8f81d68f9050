/** The bytes of a value: on the heap of V8, and outside of it (the bytes of Buffers). */
export interface Bytes {
  readonly heap: number
  readonly external: number
}

/** A word of V8 in Node.js, which compresses no pointers. */
const WORD = 8
const TEXT_HEAD_BYTES = 16
const OBJECT_HEAD_BYTES = 24
const ARRAY_HEAD_BYTES = 48
/** A number that is no small integer. */
const NUMBER_BYTES = 16
/** A Buffer of its own memory, without its bytes: view, memory and the record of the allocator. */
const BUFFER_BYTES = 200
/** A field of an object whose names are data. Often no other object has the name: then V8 keeps the shape for this one. */
const NAMED_FIELD_BYTES = 96
const NAMED_FIELDS_BYTES = 64
const LARGEST_SMALL_INTEGER = 2 ** 31
const BEYOND_ONE_BYTE = /[^\0-\xff]/

/** An entry of a Map that has just doubled, without its key and value. */
export const MAP_ENTRY_BYTES = 56

/** The heap that a text takes: two bytes for each character if any character is beyond Latin-1. */
export function textBytes(text: string): number {
  // V8 has one text for each character and pair of characters.
  if (text.length <= 2) return 0
  const bytes = TEXT_HEAD_BYTES + text.length * (BEYOND_ONE_BYTE.test(text) ? 2 : 1)
  return WORD * Math.ceil(bytes / WORD)
}

/** The heap that an object of any names takes, such as metadata. */
export function namedTextsBytes(texts: Readonly<Record<string, string>>): number {
  let bytes = NAMED_FIELDS_BYTES
  for (const name in texts) bytes += namedTextBytes(name, texts[name]!)
  return bytes
}

/** By how many bytes `namedTextsBytes` of an object grows. Only its changed texts are measured. */
export function namedTextsGrowth(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): number {
  if (before === after) return 0
  let bytes = 0
  for (const name in after) {
    const known: unknown = before[name]
    const text = after[name]!
    // What an object inherits is no text.
    if (typeof known !== 'string') bytes += namedTextBytes(name, text)
    else if (known !== text) bytes += textBytes(text) - textBytes(known)
  }
  for (const name in before)
    if (typeof (after[name] as unknown) !== 'string') bytes -= namedTextBytes(name, before[name]!)
  return bytes
}

/** Whether two objects with the same names of fields have the same texts and numbers. A store on etcd reads equal things as new objects. */
export function hasSameFields<T extends object>(a: T, b: T): boolean {
  if (a === b) return true
  for (const name in a) if (a[name] !== b[name]) return false
  return true
}

function namedTextBytes(name: string, text: string): number {
  return NAMED_FIELD_BYTES + textBytes(name) + textBytes(text)
}

/** The bytes of plain data: objects of one shape for all of their kind, lists, texts, numbers and Buffers. */
export function bytesOf(value: unknown): Bytes {
  const sum = { heap: 0, external: 0 }
  add(value, sum)
  return sum
}

function add(value: unknown, sum: { heap: number; external: number }): void {
  if (typeof value === 'string') sum.heap += textBytes(value)
  else if (typeof value === 'number') sum.heap += numberBytes(value)
  else if (typeof value !== 'object' || value === null) return
  else if (Buffer.isBuffer(value)) {
    sum.heap += BUFFER_BYTES
    sum.external += value.length
  } else if (Array.isArray(value)) {
    sum.heap += ARRAY_HEAD_BYTES + WORD * value.length
    for (const one of value) add(one, sum)
  } else {
    const values = Object.values(value)
    sum.heap += OBJECT_HEAD_BYTES + WORD * values.length
    for (const one of values) add(one, sum)
  }
}

function numberBytes(value: number): number {
  const isSmall = Number.isInteger(value) && value < LARGEST_SMALL_INTEGER && value >= -LARGEST_SMALL_INTEGER
  return isSmall ? 0 : NUMBER_BYTES
}
