/** The tables that header fields are indexed in (RFC 7541, section 2.3). */

/** A header field. Its bytes are the characters of its texts (latin1). */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

/** The size of an entry besides its name and value (section 4.1). */
const ENTRY_BYTES = 32

/** The size of a field as the limits of tables and lists count it (section 4.1; RFC 9113, section 6.5.2). */
export function fieldBytes({ name, value }: HeaderField): number {
  return name.length + value.length + ENTRY_BYTES
}

/** The fields of appendix A; the first has index 1. */
export const STATIC_TABLE: readonly HeaderField[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status) => [':status', status]),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...[
    'accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control',
    'content-disposition content-encoding content-language content-length content-location content-range',
    'content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range',
    'if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range',
    'referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary',
    'via www-authenticate',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [name, '']),
].map(([name = '', value = '']) => ({ name, value }))

/** The dynamic table of a decoder (section 2.3.2). */
export class DynamicTable {
  /** Counts its changes, so that a decoder knows whether a block still means the same. */
  revision = 0
  #maxBytes: number
  #bytes = 0
  /** The oldest first. */
  readonly #entries: HeaderField[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The size by the count of the limits. */
  get bytes(): number {
    return this.#bytes
  }

  /** The field with this index, of both tables (section 2.3.3). Undefined for an unknown index. */
  at(index: number): HeaderField | undefined {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1]
    return this.#entries[this.#entries.length - (index - STATIC_TABLE.length)]
  }

  /** Adds a field, and evicts the oldest until it fits. A field that is larger than the table leaves it empty (section 4.4). */
  add(field: HeaderField): void {
    this.revision++
    const bytes = fieldBytes(field)
    this.#evict(this.#maxBytes - bytes)
    if (bytes > this.#maxBytes) return
    this.#entries.push(field)
    this.#bytes += bytes
  }

  /** Changes the maximum size (section 4.3). */
  resize(maxBytes: number): void {
    this.revision++
    this.#maxBytes = maxBytes
    this.#evict(maxBytes)
  }

  #evict(maxBytes: number): void {
    while (this.#bytes > maxBytes) {
      const oldest = this.#entries.shift()
      if (oldest === undefined) return
      this.#bytes -= fieldBytes(oldest)
    }
  }
}

const MOST_SHARED = 1_000

/** The most characters of a field that is shared. */
const LONGEST_SHARED = 128

/** Fields with credentials stay with their connection (RFC 7541, section 7.1). */
const NEVER_SHARED = new Set(['authorization', 'proxy-authorization', 'cookie', 'accesstoken'])

const shared = new Map<string, HeaderField>()

/** Whether connections may share a field: it is short, and has no credentials. */
export function isShareable({ name, value }: HeaderField): boolean {
  return name.length + value.length <= LONGEST_SHARED && !NEVER_SHARED.has(name)
}

/**
 * A field for the table of a connection. Most clients send the same fields, so connections share one object. A client
 * with many fields of its own costs others only the sharing.
 */
export function sharedField(field: HeaderField): HeaderField {
  if (!isShareable(field)) return field
  const { name, value } = field
  const text = `${name}: ${value}`
  const known = shared.get(text)
  // A name that is malformed may have a colon too.
  if (known !== undefined) return known.name === name && known.value === value ? known : field
  if (shared.size >= MOST_SHARED) shared.clear()
  shared.set(text, field)
  return field
}
