import { isUtf8 } from 'node:buffer'

/** The group in which sets of `config apply` keep their records. They belong to their namespace, and no export has them. */
export const SETS_GROUP = 'waypost.sets'

/** The entry that holds the metadata of each layout. */
export const METADATA_NAME = { 1: '.meta.yml', 2: '.metadata.yml' } as const

/** Whether a file of this name, in any case, holds metadata: it is never an item. */
export function isMetadataName(name: string | undefined): boolean {
  return Object.values<string | undefined>(METADATA_NAME).includes(name?.toLowerCase())
}

/** The layout that readers expect, for messages. */
export const EXPECTED_LAYOUT = 'GROUP/DATA_ID, such as DEFAULT_GROUP/app.yml'

/** The names of an item. */
export interface Named {
  readonly group: string
  readonly dataId: string
}

/** The path of an item in an archive or a directory: of two parts, and neither leads anywhere else. */
export function entryName({ group, dataId }: Named): string {
  return `${fileNameOf(group)}/${fileNameOf(dataId)}`
}

/** The names of an item by the parts of its path; undefined if there are other than two. */
export function namesOfParts(parts: readonly string[]): Named | undefined {
  const [group = '', dataId = ''] = parts
  if (parts.length !== 2 || group === '' || dataId === '') return undefined
  return { group: nameOfFile(group), dataId: nameOfFile(dataId) }
}

/** The names in each form of Unicode that files have: as written, as people have typed it, NFC, and NFD (as macOS writes). */
export function formsOf({ group, dataId }: Named): readonly [Named, Named, Named, Named] {
  const inForm = (form: 'NFC' | 'NFD'): Named => ({
    group: normalized(group, form),
    dataId: normalized(dataId, form),
  })
  const typed = { group: recomposed(group), dataId: recomposed(dataId) }
  return [{ group, dataId }, areItemNames(typed) ? typed : { group, dataId }, inForm('NFC'), inForm('NFD')]
}

/** Decompositions of letters: characters with marks, or Korean letters. */
const DECOMPOSED = /(?:\P{M}\p{M}+)+|[\u1100-\u11FF\uA960-\uA97F\uAC00-\uD7FF]+/gu

/** NFC would change other characters too, which are in names as they are: \uF90A, which Korean input writes, or \u09DF. */
function recomposed(name: string): string {
  if (name.length > MOST_DECOMPOSED) return name
  return name.replace(DECOMPOSED, (letters) => normalized(letters, 'NFC'))
}

/** The longest dataId, decomposed. */
const MOST_DECOMPOSED = 3 * 256
/** Marks in a row take quadratic time to put in order; a letter has a few. */
const MANY_MARKS = /\p{M}{16}/u

/** A name in a form. Only names that an item can have are changed, so that the time is bounded. */
function normalized(name: string, form: 'NFC' | 'NFD'): string {
  return name.length > MOST_DECOMPOSED || MANY_MARKS.test(name) ? name : name.normalize(form)
}

/** A text of names, the same for each form of Unicode. */
export function composed(text: string): string {
  return normalized(text, 'NFC')
}

/** Which items the metadata has, and which names files have as they are. */
export interface KnownNames {
  readonly isDescribed: (names: Named) => boolean
  readonly isWritten: (names: Named) => boolean
}

/** The item that a file means by its names: in the form that the metadata has, unless that is another file, else composed. */
export function itemMeant(names: Named, { isDescribed, isWritten }: KnownNames): Named {
  const forms = formsOf(names)
  if (isDescribed(names)) return names
  return forms.find((one) => isDescribed(one) && !isWritten(one)) ?? forms[1]
}

/** Said of an item whose file has its name in another form. */
export const READ_AS = 'read as this name: that of the file is in another form of Unicode, as macOS writes it'

const ITEM_NAME = /^[\p{L}\p{Nd}_.:-]+$/u

/** The rule for the names of items, for messages. */
export const ITEM_NAME_ALLOWED =
  'letters, digits and _ - . : only, at most 128 in a group and 256 in a data id'

/** Whether an item can have these names. A publish has the same rule. */
export function areItemNames({ group, dataId }: Named): boolean {
  return ITEM_NAME.test(group) && group.length <= 128 && ITEM_NAME.test(dataId) && dataId.length <= 256
}

/**
 * The bytes of a name as text. In a name that is not UTF-8, each byte beyond ASCII is `%` and two hexadecimal digits: no item
 * has such a name.
 */
export function nameOfBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1').replace(/[^\0-\x7F]/g, escaped)
}

/** Characters that would end a part, or that begin an escape. */
const SEPARATORS = /[%/\\]/g
/** Names of devices, which Windows opens in place of a file, also with an ending; and the names of the metadata. */
const TAKEN = /^(?:(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)|\.meta(?:data)?\.yml$)/i

/**
 * The name of a file for a group or dataId. `.`, `..`, a dot at the end, names of devices, and the name of the metadata get an
 * escape, `%` and two hexadecimal digits. A name has no `%`, so an escape is never a name.
 */
export function fileNameOf(name: string): string {
  const plain = name.replace(SEPARATORS, escaped)
  const isDots = plain === '.' || plain === '..'
  const ended = plain.replace(isDots ? /\./g : /\.$/, escaped)
  return ended.replace(TAKEN, (taken) => escaped(taken[0]!) + taken.slice(1))
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** The group or dataId of a file name: only an escape that `fileNameOf` writes is one. */
export function nameOfFile(fileName: string): string {
  const name = fileName.replace(/%([0-9A-F]{2})/g, (_all, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  )
  return fileNameOf(name) === fileName ? name : fileName
}
