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
