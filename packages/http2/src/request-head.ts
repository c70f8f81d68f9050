import type { HeaderField } from './header-table.ts'

/** The fields of a request (RFC 9113, section 8.3.1). */
export interface RequestHead {
  readonly method: string
  /** Empty with the method CONNECT. */
  readonly path: string
  /** The regular fields. The values of fields with one name are joined. */
  readonly fields: ReadonlyMap<string, string>
  /** The length of the body by `content-length`. */
  readonly contentLength: number | undefined
}

const PSEUDO_FIELDS = [':method', ':scheme', ':path', ':authority']

/** Fields of a connection of HTTP/1.1, which make a message malformed (section 8.2.2). */
const CONNECTION_FIELDS = ['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']

/** Characters that no name contains: controls, blanks, upper case, bytes beyond ASCII, and a colon (section 8.2.1). */
// oxlint-disable-next-line no-control-regex
const NO_NAME = /[\u0000-\u0020A-Z:\u007f-\u00ff]/

/** Characters that no value contains (section 8.2.1). */
// oxlint-disable-next-line no-control-regex
const NO_VALUE = /[\u0000\n\r]/

/** The head of a request with these fields. Undefined: it is malformed (section 8.1.1). */
export function requestHeadOf(list: readonly HeaderField[]): RequestHead | undefined {
  const pseudo = new Map<string, string>()
  const fields = new Map<string, string>()
  for (const { name, value } of list) {
    if (name.startsWith(':')) {
      // They come first, each once (section 8.3).
      if (fields.size > 0 || pseudo.has(name) || !PSEUDO_FIELDS.includes(name) || !isValue(value))
        return undefined
      pseudo.set(name, value)
    } else {
      if (!isField(name, value)) return undefined
      const before = fields.get(name)
      fields.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`)
    }
  }
  return headOf(pseudo, fields)
}

function headOf(pseudo: Map<string, string>, fields: Map<string, string>): RequestHead | undefined {
  const method = pseudo.get(':method')
  if (method === undefined || method === '') return undefined
  const [scheme, path, authority] = [pseudo.get(':scheme'), pseudo.get(':path'), pseudo.get(':authority')]
  // CONNECT has an authority instead of the two (section 8.5).
  const isConnect = method === 'CONNECT'
  if (isConnect && (scheme !== undefined || path !== undefined || !authority)) return undefined
  if (!isConnect && (!scheme || !path)) return undefined
  const length = fields.get('content-length')
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return undefined
  const contentLength = length === undefined ? undefined : Number(length)
  return { method, path: path ?? '', fields, contentLength }
}

/** Whether these are trailers: they have no pseudo-fields (section 8.1). */
export function areTrailers(list: readonly HeaderField[]): boolean {
  return list.every(({ name, value }) => isField(name, value))
}

function isField(name: string, value: string): boolean {
  if (name === '' || NO_NAME.test(name) || !isValue(value)) return false
  return !CONNECTION_FIELDS.includes(name) && (name !== 'te' || value === 'trailers')
}

function isValue(value: string): boolean {
  return (
    !NO_VALUE.test(value) && !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1))
  )
}

/** A space or a tab: no value begins or ends with such a character (section 8.2.1). */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
