import { isUtf8 } from 'node:buffer'
import { Refusal } from '../../core/refusal.ts'

/** One field of a form that carries files; `content` is a view of the body. */
export interface FormPart {
  readonly name: string
  readonly content: Buffer
}

/** An upload has one field and one file; a few more are accepted. */
const MAX_PARTS = 32
const MAX_PART_HEADERS_BYTES = 4096

const ALLOWED = 'multipart/form-data as browsers and curl -F send it'

/**
 * The fields of a `multipart/form-data` body (RFC 7578), in their order. Bytes before the first boundary and
 * after the last are ignored. File names are not even read. Throws Refusal `malformed-request` or `too-many`.
 */
export function parseMultipart(body: Buffer, contentType: string | undefined): FormPart[] {
  const dashes = Buffer.from(`--${boundaryOf(contentType)}`, 'latin1')
  const separator = Buffer.concat([Buffer.from('\r\n'), dashes])
  const parts: FormPart[] = []
  let at = afterFirst(body, dashes, separator)
  while (!isEnd(body, at)) {
    const start = skipLineEnd(body, at)
    const end = body.indexOf(separator, Math.max(0, start - 2))
    if (end < 0) throw malformed('the last boundary is missing')
    if (parts.length === MAX_PARTS) throw tooManyParts()
    parts.push(partOf(body.subarray(start, Math.max(start, end))))
    at = end + separator.length
  }
  return parts
}

function boundaryOf(contentType = ''): string {
  if (!/^\s*multipart\/form-data\s*;/i.test(contentType)) throw malformed('the content type is another one')
  const found = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType.slice(0, 1000))
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) throw malformed('the content type names no boundary')
  return boundary
}

function afterFirst(body: Buffer, dashes: Buffer, separator: Buffer): number {
  if (body.subarray(0, dashes.length).equals(dashes)) return dashes.length
  const first = body.indexOf(separator)
  if (first < 0) throw malformed('the boundary does not occur')
  return first + separator.length
}

const DASH = 0x2d

function isEnd(body: Buffer, at: number): boolean {
  return body[at] === DASH && body[at + 1] === DASH
}

/** A boundary may be followed by blanks before its line ends. */
function skipLineEnd(body: Buffer, at: number): number {
  let next = at
  while (body[next] === 0x20 || body[next] === 0x09) next++
  if (body[next] !== 0x0d || body[next + 1] !== 0x0a) throw malformed('a boundary does not end its line')
  return next + 2
}

function partOf(part: Buffer): FormPart {
  const head = part.subarray(0, MAX_PART_HEADERS_BYTES)
  const end = head.indexOf('\r\n\r\n')
  if (end < 0) throw malformed('a part has no headers, or too long ones')
  const headers = head.subarray(0, end)
  if (!isUtf8(headers)) throw malformed('the headers of a part are not UTF-8')
  return { name: nameOf(headers.toString('utf8')), content: part.subarray(end + 4) }
}

function nameOf(headers: string): string {
  const disposition = headers.split('\r\n').find((line) => /^content-disposition\s*:/i.test(line)) ?? ''
  const found = /;\s*name=(?:"([^"]{0,256})"|([^\s;"]{1,256}))/i.exec(disposition)
  const name = found?.[1] ?? found?.[2]
  if (name === undefined) throw malformed('a part has no name')
  return name
}

function malformed(what: string): Refusal {
  const facts = { parameter: 'file', allowed: ALLOWED }
  return new Refusal('malformed-request', `The body must be ${ALLOWED}, but ${what}.`, facts)
}

function tooManyParts(): Refusal {
  const allowed = `at most ${MAX_PARTS} parts`
  return new Refusal('too-many', `The body has too many parts: ${allowed} are allowed.`, { allowed })
}
