import { decodeBytes } from './form-parser.ts'
import { FormFields } from './form-fields.ts'
import { percentByte } from './percent-bytes.ts'

/** The bytes of a form, and how many fields it may have. */
export interface SearchedForm {
  readonly bytes: Buffer
  readonly maxParameters: number
}

/** A field to look for. Names and values may be encoded; longer values than `longestValue` bytes are not decoded. */
export interface SearchedField {
  readonly name: string
  readonly longestValue: number
}

/** The result instead of a value that is too long. */
export const TOO_LONG: unique symbol = Symbol('too long')

/** The value of a field; undefined if the form does not have it. */
export type FoundValue = string | typeof TOO_LONG | undefined

/**
 * The values of some fields of a form; the first of several with the same name counts. The form itself is neither
 * decoded nor changed, so a search costs little, however large the form is. Throws Refusal `too-many`, and
 * `malformed-request` for a value that is not UTF-8, as `parseFormBody` does.
 */
export function findFields(
  { bytes, maxParameters }: SearchedForm,
  wanted: readonly SearchedField[],
): FoundValue[] {
  const found: FoundValue[] = wanted.map(() => undefined)
  const fields = new FormFields(bytes, maxParameters)
  while (fields.next()) {
    for (const [index, field] of wanted.entries())
      if (found[index] === undefined && isNamed(bytes, fields, field.name))
        found[index] = valueOf(bytes, fields, field)
  }
  return found
}

function valueOf(bytes: Buffer, { valueStart, end }: FormFields, { name, longestValue }: SearchedField) {
  if (end - valueStart > longestValue) return TOO_LONG
  return decodeBytes(Buffer.from(bytes.subarray(valueStart, end)), name)
}

/** Whether the name of the field is this one, of ASCII letters, spelled plainly or with percent sequences. */
function isNamed(bytes: Buffer, { start, nameEnd }: FormFields, name: string): boolean {
  let at = start
  for (let index = 0; index < name.length; index++) {
    if (at >= nameEnd) return false
    const decoded = percentByte(bytes, at, nameEnd)
    if ((decoded < 0 ? bytes[at] : decoded) !== name.charCodeAt(index)) return false
    at += decoded < 0 ? 1 : 3
  }
  return at === nameEnd
}

/**
 * The name of the first field that is not known, at most some 300 bytes of it; undefined if all are. The form itself is not
 * changed. Throws Refusal `too-many`, and `malformed-request` for a name that is not UTF-8.
 */
export function unknownField(
  { bytes, maxParameters }: SearchedForm,
  known: ReadonlySet<string>,
): string | undefined {
  const fields = new FormFields(bytes, maxParameters)
  while (fields.next()) {
    const { start, nameEnd } = fields
    if (nameEnd - start > LONGEST_KNOWN) return bytes.toString('utf8', start, start + LONGEST_KNOWN)
    // Nearly all names are spelled plainly.
    if (known.has(bytes.toString('latin1', start, nameEnd))) continue
    const name = decodeBytes(Buffer.from(bytes.subarray(start, nameEnd)), 'a parameter name')
    if (!known.has(name)) return name
  }
  return undefined
}

/** More bytes than a known name has, even if every byte is encoded. */
const LONGEST_KNOWN = 300
