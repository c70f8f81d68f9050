import type { Answer } from './route.ts'

/**
 * The headers of an answer as node takes them without a copy: name, value, name, value. Node adds Date and
 * Connection; without a length it sends chunks. Nothing that is sent may be taken for something else by a browser, hence `nosniff`.
 */
export function headersOf(answer: Answer, closing: boolean): string[] {
  if (answer.ready !== undefined && !closing) return answer.ready
  const headers = ['Content-Type', answer.contentType, 'X-Content-Type-Options', 'nosniff']
  if (answer.chunks === undefined) headers.push('Content-Length', String(bytesOf(answer.body)))
  if (closing) headers.push('Connection', 'close')
  if (answer.headers !== undefined) pushExtra(headers, answer.headers)
  return headers
}

/**
 * An answer that is given very often: its headers are made once. They are not its own property, so that a copy
 * with something changed does not have them.
 */
export class ReadyAnswer implements Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Answer['body']
  readonly headers: NonNullable<Answer['headers']>
  readonly #ready: string[]

  constructor({ status, contentType, body, headers = {} }: Answer) {
    this.status = status
    this.contentType = contentType
    this.body = body
    this.headers = headers
    this.#ready = headersOf({ status, contentType, body, headers }, false)
  }

  get ready(): string[] {
    return this.#ready
  }
}

function bytesOf(body: Buffer | string): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

function pushExtra(headers: string[], extra: NonNullable<Answer['headers']>): void {
  for (const name in extra) headers.push(name, sendable(extra[name]!))
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
