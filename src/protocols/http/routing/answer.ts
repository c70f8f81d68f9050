import type { Answer } from './route.ts'
import { STATUS_CODES } from 'node:http'
import { bytesOfPieces } from '../../../core/text/long-text.ts'

/**
 * The headers of an answer as node takes them without a copy: name, value, name, value. Node adds Date and Connection;
 * without a length it sends chunks. Nothing that is sent may be taken for something else by a browser, hence `nosniff`.
 * No cache may keep an answer: it may be for one caller only. Files of the page name another rule.
 */
export function headersOf(answer: Answer, closing: boolean): string[] {
  const headers = ['Content-Type', answer.contentType, 'X-Content-Type-Options', 'nosniff']
  if (answer.chunks === undefined) headers.push('Content-Length', String(bytesOf(answer)))
  if (closing) headers.push('Connection', 'close')
  if (answer.headers?.[CACHE] === undefined) headers.push(CACHE, 'no-store')
  for (const name in answer.headers) headers.push(name, sendable(answer.headers[name]!))
  return headers
}

/** An answer that says which parameters were read without the blanks around them. */
export function sayingTrimmed(answer: Answer, names: readonly string[] | undefined): Answer {
  if (names === undefined || names.length === 0) return answer
  return { ...answer, headers: { ...answer.headers, [TRIMMED_HEADER]: names.join(', ') } }
}

const TRIMMED_HEADER = 'Waypost-Trimmed'

/** Status line and headers of an answer as sent, in one piece, without the `CommonHeaders` that follow. */
export function headOf(answer: Answer): string {
  if (answer.head !== undefined) return answer.head
  const { status, contentType, headers } = answer
  const start = headers?.[CACHE] === undefined ? (FIXED.get(status) ?? fixedOf(status)) : startOf(status)
  const length = bytesOf(answer)
  let head = `${start}Content-Type: ${contentType}\r\nContent-Length: ${length}\r\n`
  for (const name in headers) head += `${name}: ${sendable(headers[name]!)}\r\n`
  return head
}

const CACHE = 'Cache-Control'

/** The start of a head that no cache may keep, by status. */
const FIXED = new Map<number, string>()

function fixedOf(status: number): string {
  const fixed = `${startOf(status)}${CACHE}: no-store\r\n`
  FIXED.set(status, fixed)
  return fixed
}

function startOf(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\nX-Content-Type-Options: nosniff\r\n`
}

const SECOND_MS = 1_000

/** The end of every head: the date, in seconds, and the time-out of an idle connection. */
export class CommonHeaders {
  readonly #keepAlive: string
  #second = NaN
  #text = ''

  constructor(keepAliveTimeoutMs: number) {
    const kept = `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / SECOND_MS)}`
    this.#keepAlive = `Connection: keep-alive\r\n${kept}\r\n\r\n`
  }

  /** Them at an epoch time in milliseconds, with the empty line. */
  at(nowMs: number): string {
    const second = Math.floor(nowMs / SECOND_MS)
    if (second !== this.#second) {
      this.#second = second
      this.#text = `Date: ${new Date(nowMs).toUTCString()}\r\n${this.#keepAlive}`
    }
    return this.#text
  }
}

/**
 * A frequent answer whose head is made once. The head is a getter, not an own property, so that a changed copy does not
 * have it.
 */
export class ReadyAnswer implements Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Answer['body']
  readonly headers: NonNullable<Answer['headers']>
  readonly isAscii: boolean
  readonly #head: string

  constructor({ status, contentType, body, headers = {}, isAscii = false }: Answer) {
    this.status = status
    this.contentType = contentType
    this.body = body
    this.headers = headers
    this.isAscii = isAscii
    this.#head = headOf({ status, contentType, body, headers })
  }

  get head(): string {
    return this.#head
  }
}

function bytesOf({ body, rest, isAscii }: Answer): number {
  if (typeof body === 'string') return isAscii === true ? body.length : Buffer.byteLength(body)
  return rest === undefined ? body.length : body.length + bytesOfPieces(rest)
}

// Anything else would make node throw, or end the header early.
const UNSENDABLE = /[^\t\x20-\x7e]/

/** A header's value in printable ASCII: whatever else it holds is percent-encoded. */
export function sendable(value: string): string {
  return UNSENDABLE.test(value) ? value.replace(/[^\t\x20-\x7e]+/g, encodeAll) : value
}

function encodeAll(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}
