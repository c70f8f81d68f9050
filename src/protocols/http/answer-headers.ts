import type { Answer } from './route.ts'

/**
 * The headers of an answer as node takes them without a copy: name, value, name, value. Node adds Date and
 * Connection; without a `length` it sends chunks. Nothing that is sent may be taken for something else by a browser, hence `nosniff`.
 */
export function headersOf(answer: Answer, length: number | undefined, closing: boolean): string[] {
  const headers = ['Content-Type', answer.contentType, 'X-Content-Type-Options', 'nosniff']
  if (length !== undefined) headers.push('Content-Length', String(length))
  if (closing) headers.push('Connection', 'close')
  if (answer.headers !== undefined) pushExtra(headers, answer.headers)
  return headers
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
