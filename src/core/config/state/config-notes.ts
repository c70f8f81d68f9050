import { ownTextOrNull } from '../../text/own-text.ts'

/** Optional fields of an item, stored and returned as sent. */
export interface ConfigNotes {
  readonly appName: string
  readonly desc: string | null
  readonly use: string | null
  readonly effect: string | null
  readonly schema: string | null
  /** Comma-separated, as sent. */
  readonly configTags: string | null
  readonly encryptedDataKey: string
}

/** The notes of an item that was published without any. */
export const NO_NOTES: ConfigNotes = {
  appName: '',
  desc: null,
  use: null,
  effect: null,
  schema: null,
  configTags: null,
  encryptedDataKey: '',
}

/** The most characters of each note. */
export const NOTE_LENGTHS: Readonly<Record<keyof ConfigNotes, number>> = {
  appName: 256,
  desc: 128,
  use: 32,
  effect: 32,
  schema: 32768,
  configTags: 324,
  encryptedDataKey: 1024,
}

const TAGS = /^[^,]{0,64}(,[^,]{0,64}){0,4}$/u

/** The rule for tags, as a regular expression and in words. */
export const TAGS_RULE = {
  pattern: TAGS.source,
  allowed: 'at most 5 tags of at most 64 characters, separated by commas',
} as const

/** The fault of a note, as words behind its name; undefined: an item can have it. */
export function noteFault(name: keyof ConfigNotes, text: string): string | undefined {
  const isOfTags = name === 'configTags'
  if (isOfTags && !TAGS.test(text)) return `are ${TAGS_RULE.allowed}`
  return text.length > NOTE_LENGTHS[name] ? `has at most ${NOTE_LENGTHS[name]} characters` : undefined
}

const NAMES = Object.keys(NO_NOTES) as (keyof ConfigNotes)[]

/** The notes with the new fields over them, copied. Returns the same object if nothing changes. */
export function notesWith(notes: ConfigNotes, said: Partial<ConfigNotes>): ConfigNotes {
  const isNew = NAMES.some((name) => said[name] !== undefined && said[name] !== notes[name])
  return isNew ? { ...notes, ...owned(said) } : notes
}

/** A copy: a text cut out of a request would keep the whole request in memory. */
function owned(said: Partial<ConfigNotes>): Partial<ConfigNotes> {
  return Object.fromEntries(Object.entries(said).map(([name, text]) => [name, ownTextOrNull(text)]))
}

/** Whether both have the same fields. */
export function sameNotes(a: ConfigNotes, b: ConfigNotes): boolean {
  return a === b || NAMES.every((name) => a[name] === b[name])
}
