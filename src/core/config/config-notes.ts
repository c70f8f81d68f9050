import { ownTextOrNull } from '../own-text.ts'

/** What a publisher may say about an item besides its content; each is kept and given back as sent. */
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

/** Those of an item of which nobody has said anything. */
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

/** The notes with what is said now, in texts of their own; the very same ones where it says nothing new. */
export function notesWith(notes: ConfigNotes, said: Partial<ConfigNotes>): ConfigNotes {
  const isNew = NAMES.some((name) => said[name] !== undefined && said[name] !== notes[name])
  return isNew ? { ...notes, ...owned(said) } : notes
}

/** What is kept of an item must not keep the request that it was cut out of, content and all. */
function owned(said: Partial<ConfigNotes>): Partial<ConfigNotes> {
  return Object.fromEntries(Object.entries(said).map(([name, text]) => [name, ownTextOrNull(text)]))
}

/** Whether two say the same. */
export function sameNotes(a: ConfigNotes, b: ConfigNotes): boolean {
  return a === b || NAMES.every((name) => a[name] === b[name])
}
