import { isIPv6 } from 'node:net'
import type { CheckerOf, ProbeTarget } from './probe-target.ts'

/** Path and header fields of a health request, from the checker of an operator. Both are valid in HTTP. */
export interface HealthRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Fields that control the framing or the connection. A checker cannot set them. */
const RESERVED = new Set(
  'connection content-length expect keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)

/** The request of an HTTP checker. */
export function healthRequestOf(target: ProbeTarget<CheckerOf<'HTTP'>>): HealthRequest {
  const headers = { host: authorityOf(target), 'user-agent': 'waypost', ...headersOf(target.checker.headers) }
  return { path: pathOf(target.checker.path), headers: { ...headers, connection: 'close' } }
}

/**
 * Parses `name:value|name2:value2`, with names in lower case. Fields that HTTP does not allow (with a line end, or a
 * space in the name), and fields that change the framing, are left out.
 */
export function headersOf(text: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const pair of text.split('|')) {
    const [name, value] = splitAtColon(pair)
    if (TOKEN.test(name) && FIELD_VALUE.test(value) && !RESERVED.has(name)) fields[name] = value
  }
  return fields
}

function splitAtColon(pair: string): [name: string, value: string] {
  const colon = pair.indexOf(':')
  if (colon < 0) return ['', '']
  // Only blanks are trimmed. A line end stays, so the field is left out instead of repaired.
  return [trimBlanks(pair.slice(0, colon)).toLowerCase(), trimBlanks(pair.slice(colon + 1))]
}

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}

/** The path with a leading slash. Characters that a request line cannot have are percent-encoded as UTF-8. */
export function pathOf(path: string): string {
  const rooted = path.startsWith('/') ? path : `/${path}`
  return rooted.replace(/[^\x21-\x7e]+/g, (run) => Buffer.from(run).toString('hex').replace(/../g, '%$&'))
}

function authorityOf({ host, port }: ProbeTarget): string {
  // A zone has a meaning only on this machine. A host name comes from a client.
  const name = isIPv6(host) ? `[${host.split('%', 1)[0]}]` : host.replace(/[^\w.-]/g, '')
  return port === 80 ? name : `${name}:${port}`
}
