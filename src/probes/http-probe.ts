import { request, type IncomingMessage } from 'node:http'
import {
  converse,
  down,
  downNow,
  up,
  verdictOfError,
  type Conversation,
  type CheckerOf,
  type ProbeResult,
  type ProbeTarget,
  type Verdict,
} from './conversation.ts'
import { isIPv6 } from 'node:net'

/** How much of a body is read and dropped before the connection is closed. Most bodies end before that. */
const BODY_CAP_BYTES = 16_384

/** How many interim answers (1xx) are read. There is no size that they end at. */
const MOST_INTERIM_ANSWERS = 16

/** Statuses that may be temporary: a sign-in redirect, an overload. They count towards `checkTimes`. */
const PASSING_STATUSES = new Set([302, 503])

/**
 * Sends one GET on a new connection. The expected status is up, 302 and 503 count as down, and any other status is down
 * at once. Redirects are not followed. The body is dropped. It never throws.
 */
export function httpProbe(target: ProbeTarget<CheckerOf<'HTTP'>>, timeoutMs: number): Promise<ProbeResult> {
  const expected = target.checker.expectedResponseCode
  return converse(target, timeoutMs, (talk, socket) => {
    // With its own socket and no agent, node:http neither pools connections nor resolves names.
    const asked = request({ ...healthRequestOf(target), method: 'GET', createConnection: () => socket })
    let interim = 0
    const counted = (): void => {
      if (++interim > MOST_INTERIM_ANSWERS)
        talk.conclude(down(`more than ${MOST_INTERIM_ANSWERS} answers 1xx`))
    }
    const refused = ({ statusCode }: IncomingMessage): void =>
      talk.conclude(verdictOfStatus(statusCode, expected))
    const answered = (response: IncomingMessage): void => {
      talk.judge(verdictOfStatus(response.statusCode, expected))
      dropBody(response, talk)
    }
    asked.on(
      'error',
      talk.guard((error: Error) => talk.conclude(verdictOfError(error))),
    )
    asked.on('information', talk.guard(counted))
    asked.on('upgrade', talk.guard(refused))
    asked.on('response', talk.guard(answered))
    asked.end()
  })
}

function verdictOfStatus(status = 0, expected: number): Verdict {
  if (status === expected) return up(`status ${status}`)
  const reason = `status ${status} instead of ${expected}`
  return PASSING_STATUSES.has(status) ? down(reason) : downNow(reason)
}

function dropBody(response: IncomingMessage, talk: Conversation): void {
  let seenBytes = 0
  const end = talk.guard(() => talk.conclude(down('no status')))
  const count = (chunk: Buffer): void => {
    seenBytes += chunk.length
    if (seenBytes > BODY_CAP_BYTES) end()
  }
  response.on('data', talk.guard(count))
  response.on('end', end)
  response.on('error', end)
}

/** Path and header fields of a health request, from the checker of an operator. Both are valid in HTTP. */
interface HealthRequest {
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
