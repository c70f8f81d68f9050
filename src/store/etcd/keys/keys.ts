import { identityOf } from '../../../core/text/ip-address.ts'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { InstanceAddress } from '../../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import { isStamp } from '../../../core/decisions/stamps.ts'
import { prefixEnd } from '@waypost/etcd-client/range-end'

/** The meaning of a key of etcd. `Keys` makes keys of it, and reads it from them. */
export type KeyPlace =
  /** The version of this layout. */
  | { readonly of: 'format' }
  /** An item with its content, or the stamp of its chunks. */
  | { readonly of: 'config'; readonly key: ConfigKey }
  /** A history record with its text. */
  | { readonly of: 'record-text'; readonly stamp: number }
  /** The entry of a record in a page of an item's history. */
  | { readonly of: 'history'; readonly key: ConfigKey; readonly stamp: number }
  /** A piece of a large content. */
  | { readonly of: 'chunk'; readonly stamp: number; readonly index: number }
  /** A unit was written that names the chunks of this stamp. */
  | { readonly of: 'named-chunks'; readonly stamp: number }
  | { readonly of: 'service'; readonly service: ServiceKey }
  | { readonly of: 'instance'; readonly service: ServiceKey; readonly address: InstanceAddress }
  /** A member, on its lease. */
  | { readonly of: 'member'; readonly id: string }
  /** The elected member, on its lease. */
  | { readonly of: 'elected' }
  /** The instances that a unit of a member removed for silence in this key's revision; `index`: its place in the commit. */
  | { readonly of: 'silenced'; readonly id: string; readonly index: number }
  /** The bytes by which history grew in this key's revision, by a request of a member; `index`: its unit, or the cleaning. */
  | { readonly of: 'history-grown'; readonly id: string; readonly index: string }
  /** The number of a member's last request. */
  | { readonly of: 'request'; readonly id: string }
  /** A small remembered value. */
  | { readonly of: 'remembered'; readonly name: string }
  /** A small record: a namespace, a switch, remembered metadata, a user, a session. */
  | { readonly of: 'small-record'; readonly kind: string; readonly id: string }
  /** Written with every change of a record of this kind: comparing this key compares all records of the kind. */
  | { readonly of: 'kind'; readonly kind: string }
  /** An event of the audit. The key shows whether its result is not `done`. */
  | { readonly of: 'audit'; readonly stamp: number; readonly isRefused: boolean; readonly member: string }

/** Stamps are smaller. They have 16 digits then. */
const STAMP_LIMIT = 2 ** 52
/** The largest stamp that a key can have. */
export const LARGEST_STAMP = STAMP_LIMIT - 1
const STAMP_DIGITS = 16
const INDEX_DIGITS = 6
/** Comes after every number in a key. */
const AFTER_DIGITS = ':'
/** The names of kinds of records (`RecordKind.name`). None is one letter, as the kinds of keys are. */
const KIND = /^[a-z]{2,}(-[a-z]+)*$/
const RESULTS: readonly string[] = ['done', 'refused']

/** The form of places of one kind: their letter, and the parts that follow it. */
interface Layout<P extends KeyPlace> {
  readonly letter: string
  readonly write: (place: P) => readonly string[]
  /** Undefined if the parts do not fit. */
  readonly read: (parts: readonly string[]) => P | undefined
}

type Layouts = { readonly [Of in KeyPlace['of']]: Layout<Extract<KeyPlace, { of: Of }>> }

const LAYOUTS: Layouts = {
  format: { letter: 'format', write: () => [], read: (p) => only(p, 0, () => ({ of: 'format' })) },
  config: {
    letter: 'c',
    write: ({ key }) => item(key),
    read: (p) => only(p, 3, () => ({ of: 'config', key: toItem(p) })),
  },
  'record-text': {
    letter: 'v',
    write: ({ stamp }) => [digits(stamp)],
    read: (p) => only(p, 1, () => numbered(stampIn(p[0]!), (stamp) => ({ of: 'record-text', stamp }))),
  },
  history: {
    letter: 'w',
    write: ({ key, stamp }) => [...item(key), newestFirst(stamp)],
    read: (p) =>
      only(p, 4, () => numbered(newestFirstIn(p[3]!), (stamp) => ({ of: 'history', key: toItem(p), stamp }))),
  },
  chunk: {
    letter: 'x',
    write: ({ stamp, index }) => [digits(stamp), digits(index, INDEX_DIGITS)],
    read: (p) =>
      only(p, 2, ([stamp, index]) =>
        numbered(stampIn(stamp), (at) =>
          numbered(digitsIn(index, INDEX_DIGITS), (found) => ({ of: 'chunk', stamp: at, index: found })),
        ),
      ),
  },
  'named-chunks': {
    letter: 'y',
    write: ({ stamp }) => [digits(stamp)],
    read: (p) => only(p, 1, () => numbered(stampIn(p[0]!), (stamp) => ({ of: 'named-chunks', stamp }))),
  },
  service: {
    letter: 's',
    write: ({ service }) => toParts(service),
    read: (p) => only(p, 2, () => ({ of: 'service', service: toService(p) })),
  },
  instance: {
    letter: 'i',
    write: ({ service, address }) => [...toParts(service), ...addressParts(address)],
    read: (p) =>
      only(p, 5, () =>
        // All spellings of an ip have one key: another key would be a second instance.
        identityOf(p[2]!) !== p[2]
          ? undefined
          : numbered(plainNumberIn(p[3]!), () => ({
              of: 'instance',
              service: toService(p),
              address: toAddress(p),
            })),
      ),
  },
  member: { letter: 'p', write: ({ id }) => [id], read: (p) => only(p, 1, ([id]) => ({ of: 'member', id })) },
  elected: { letter: 'e', write: () => [], read: (p) => only(p, 0, () => ({ of: 'elected' })) },
  silenced: {
    letter: 'g',
    write: ({ id, index }) => [id, String(index)],
    read: (p) =>
      only(p, 2, ([id, text]) => numbered(plainNumberIn(text), (index) => ({ of: 'silenced', id, index }))),
  },
  'history-grown': {
    letter: 'h',
    write: ({ id, index }) => [id, index],
    read: (p) => only(p, 2, ([id, index]) => ({ of: 'history-grown', id, index })),
  },
  request: {
    letter: 'b',
    write: ({ id }) => [id],
    read: (p) => only(p, 1, ([id]) => ({ of: 'request', id })),
  },
  remembered: {
    letter: 'k',
    write: ({ name }) => [name],
    read: (p) => only(p, 1, ([name]) => ({ of: 'remembered', name })),
  },
  'small-record': {
    letter: 'r',
    write: ({ kind, id }) => [kind, id],
    read: (p) => only(p, 2, ([kind, id]) => (KIND.test(kind) ? { of: 'small-record', kind, id } : undefined)),
  },
  kind: {
    letter: 'q',
    write: ({ kind }) => [kind],
    read: (p) => only(p, 1, ([kind]) => (KIND.test(kind) ? { of: 'kind', kind } : undefined)),
  },
  audit: {
    letter: 'a',
    write: ({ stamp, isRefused, member }) => [newestFirst(stamp), isRefused ? 'refused' : 'done', member],
    read: (p) =>
      only(p, 3, ([text, result]) =>
        RESULTS.includes(result)
          ? numbered(newestFirstIn(text), (stamp) => ({
              of: 'audit',
              stamp,
              isRefused: result === 'refused',
              member: p[2]!,
            }))
          : undefined,
      ),
  },
}

const BY_LETTER = new Map(Object.values(LAYOUTS).map((layout) => [layout.letter, layout]))

/**
 * The keys of a store in etcd: `<prefix><letter>/<part>/<part>`, such as `waypost/s/public/DEFAULT_GROUP@@orders`. Parts are
 * escaped, so the prefix of a service or an item covers nothing else. Stamps have a fixed width, so keys sort by them; in the
 * history of an item the newest comes first.
 */
export class Keys {
  /** The beginning of all keys, with a slash at its end. */
  readonly prefix: string

  /** @param prefix the beginning of all keys, such as `waypost/`; it ends with a slash */
  constructor(prefix: string) {
    if (!prefix.endsWith('/')) throw new Error(`The prefix of keys ends with a slash; this one is ${prefix}`)
    this.prefix = prefix
  }

  /** The key of a place. */
  of(place: KeyPlace): string {
    // Each place has its own layout: TypeScript does not follow that.
    const { letter, write } = LAYOUTS[place.of] as Layout<KeyPlace>
    return this.prefix + [letter, ...write(place).map(escape)].join('/')
  }

  /**
   * The meaning of a key. Undefined for a key of another store, or of a newer layout: no server writes a key in this
   * form. A place has one key only, so `of` gives the same key back.
   */
  read(key: string): KeyPlace | undefined {
    if (!key.startsWith(this.prefix)) return undefined
    const [letter = '', ...written] = key.slice(this.prefix.length).split('/')
    const layout = BY_LETTER.get(letter)
    if (layout === undefined) return undefined
    if (isPlain(key)) return layout.read(written)
    const parts = written.map(unescape)
    return parts.every((part, index) => escape(part) === written[index]) ? layout.read(parts) : undefined
  }

  /**
   * The range of keys that the servers follow. Their letters lie between the letters of the audit and of the history.
   * Keys before and after them, chunks too, are read only on demand.
   */
  get watched(): { readonly key: string; readonly end: string } {
    return { key: `${this.prefix}b/`, end: `${this.prefix}v/` }
  }

  /** The prefix of all places of a kind. */
  every(kind: Exclude<KeyPlace['of'], 'format' | 'elected'>): string {
    return `${this.prefix}${LAYOUTS[kind].letter}/`
  }

  /** Consecutive ranges that cover all keys with the prefix, each with the keys of about one kind. */
  ranges(): { readonly key: string; readonly end: string }[] {
    const starts = [this.prefix, ...this.folders]
    const last = prefixEnd(this.prefix)
    return starts.map((key, index) => ({ key, end: starts[index + 1] ?? last }))
  }

  /** The folders that keys of this layout are in. */
  get folders(): string[] {
    return [...BY_LETTER.keys()].sort(compareKeys).map((letter) => `${this.prefix}${letter}/`)
  }

  /** Whether a key is in one of these folders. */
  isInFolder(key: string): boolean {
    const slash = key.indexOf('/', this.prefix.length)
    return key.startsWith(this.prefix) && BY_LETTER.has(key.slice(this.prefix.length, Math.max(0, slash)))
  }

  /** The ranges between these folders: only the keys without parts are ours there. */
  get gaps(): { readonly key: string; readonly end: string }[] {
    const { folders, prefix } = this
    const starts = [prefix, ...folders.map(prefixEnd)]
    return starts.map((key, index) => ({ key, end: folders[index] ?? prefixEnd(prefix) }))
  }

  /** The prefix of the history of an item. */
  historyOf(key: ConfigKey): string {
    return this.every('history') + prefixOf(item(key))
  }

  /** The prefix of the instances of a service. */
  instancesOf(service: ServiceKey): string {
    return this.every('instance') + prefixOf(toParts(service))
  }

  /** The key before which all audit events are older than this stamp. */
  auditBefore(stamp: number): string {
    const isNone = stamp < 1
    return this.every('audit') + (isNone ? AFTER_DIGITS : newestFirst(Math.min(stamp, STAMP_LIMIT) - 1))
  }

  /** The prefix of the chunks of a content. */
  chunksOf(stamp: number): string {
    return this.every('chunk') + prefixOf([digits(stamp)])
  }
}

/** Compares keys as etcd does: by their bytes of UTF-8. JavaScript compares units of UTF-16, where emoji come too early. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const one = a.charCodeAt(i)
    const other = b.charCodeAt(i)
    if (one !== other) return rank(one) - rank(other)
  }
  return a.length - b.length
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Nothing in this key is escaped, or has to be. */
function isPlain(key: string): boolean {
  return key.isWellFormed() && !/[%\p{Cc}]/u.test(key)
}

/** Escapes the separator of parts, control characters, and halves of characters, which UTF-8 cannot hold. */
function escape(part: string): string {
  if (part.isWellFormed() && !/[%/\p{Cc}]/u.test(part)) return part
  return part.replaceAll(
    /[%/\p{Cc}\p{Cs}]/gu,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function unescape(part: string): string {
  if (!part.includes('%')) return part
  return part.replaceAll(/%([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function prefixOf(parts: readonly string[]): string {
  return parts.map((part) => `${escape(part)}/`).join('')
}

function digits(value: number, width = STAMP_DIGITS): string {
  const limit = width === STAMP_DIGITS ? STAMP_LIMIT : 10 ** width
  if (!Number.isInteger(value) || value < 0 || value >= limit)
    throw new RangeError(`${value} has no place in a key`)
  return String(value).padStart(width, '0')
}

/** A stamp in reverse, so that later stamps come first. */
function newestFirst(stamp: number): string {
  return digits(LARGEST_STAMP - stamp)
}

/** The number in a part of a fixed width; undefined: no server has written the part. */
function digitsIn(text: string, width: number): number | undefined {
  return text.length === width && /^\d+$/.test(text) ? Number(text) : undefined
}

function stampIn(text: string): number | undefined {
  const stamp = digitsIn(text, STAMP_DIGITS)
  return isStamp(stamp) ? stamp : undefined
}

/** The stamp of which {@link newestFirst} has made a part. */
function newestFirstIn(text: string): number | undefined {
  const rest = digitsIn(text, STAMP_DIGITS)
  const stamp = rest === undefined ? undefined : LARGEST_STAMP - rest
  return isStamp(stamp) ? stamp : undefined
}

/** A number without a fixed width, such as a port. */
function plainNumberIn(text: string): number | undefined {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined
}

function numbered<P>(found: number | undefined, read: (found: number) => P | undefined): P | undefined {
  return found === undefined ? undefined : read(found)
}

function item({ namespaceId, group, dataId }: ConfigKey): readonly string[] {
  return [namespaceId, group, dataId]
}

function toItem([namespaceId, group, dataId]: readonly string[]): ConfigKey {
  return configKey(namespaceId!, group!, dataId!)
}

function toParts({ namespaceId, groupedName }: ServiceKey): readonly string[] {
  return [namespaceId, groupedName]
}

function toService([namespaceId, groupedName]: readonly string[]): ServiceKey {
  return { namespaceId: namespaceId!, groupedName: groupedName! }
}

function addressParts({ ip, port, cluster }: InstanceAddress): readonly string[] {
  return [identityOf(ip), String(port), cluster]
}

/** The address of an instance is behind its service. */
function toAddress([, , ip, port, cluster]: readonly string[]): InstanceAddress {
  return { ip: ip!, port: Number(port), cluster: cluster! }
}

function only<P>(
  parts: readonly string[],
  count: number,
  read: (parts: [string, string]) => P | undefined,
): P | undefined {
  return parts.length === count ? read(parts as [string, string]) : undefined
}
