import { Refusal } from '../core/refusal.ts'

/** The zip format of an export: stored or deflated, names in UTF-8, one part, no encryption, no zip64, little-endian. */

export const LOCAL_HEADER = 0x04034b50
export const DIRECTORY_HEADER = 0x02014b50
export const END_OF_DIRECTORY = 0x06054b50

export const LOCAL_HEADER_BYTES = 30
export const DIRECTORY_HEADER_BYTES = 46
export const END_OF_DIRECTORY_BYTES = 22

export const STORED = 0
export const DEFLATED = 8

/** The general purpose flag that says that the name is UTF-8. */
export const UTF8_NAME = 0x0800
/** Encrypted, strongly encrypted, or with a masked directory. */
export const ENCRYPTED = 0x0001 | 0x0040 | 0x2000

/** Programs of Unix and macOS: they write the mode of a file, whose highest bits say what it is. */
export const UNIX_HOSTS: ReadonlySet<number> = new Set([3, 19])
export const FILE_KIND = 0xf0_00
export const LINK = 0xa0_00

/** The most entries and the highest offset without zip64; their largest values are reserved for it. */
export const MAX_ENTRIES = 0xfffe
export const MAX_OFFSET = 0xfffffffe

/** Limits of a zip, so that unpacking is bounded whatever it declares. */
export interface ZipLimits {
  readonly maxEntries: number
  /** Unpacked bytes of one entry. */
  readonly maxEntryBytes: number
  /** Unpacked bytes of all entries. */
  readonly maxTotalBytes: number
}

/** The refusal of a file that is no readable zip: `what` completes "The zip file …". */
export function badZip(what: string, cause?: unknown): Refusal {
  const facts = { parameter: 'file', allowed: 'a zip file as an export gives it' }
  return new Refusal(
    'bad-archive',
    `The zip file ${what}.`,
    cause === undefined ? facts : { ...facts, cause },
  )
}

/** A zip that exceeds a limit. */
export function zipTooLarge(what: string, allowed: string): Refusal {
  const message = `The zip file ${what}: ${allowed}. Export in smaller parts, or raise the limit.`
  return new Refusal('too-large', message, { parameter: 'file', allowed })
}

/** A name from a zip, for a message: short and on one line. */
export function shownName(name: string): string {
  const start = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return `"${start.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')}"`
}

/** The most names in a sentence. */
const MOST_NAMED = 5

/** Several names, for a message. */
export function shownNames(names: readonly string[]): string {
  return firstNamed(names, shownName)
}

/** The first of several, and how many more there are. */
export function firstNamed<T>(all: readonly T[], shown: (one: T) => string): string {
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''
  return all.slice(0, MOST_NAMED).map(shown).join(', ') + more
}
