import { isUtf8 } from 'node:buffer'
import { Refusal } from '../../core/refusal.ts'
import { shown } from '../../core/text/shown.ts'

/** One field of a form that carries files; `content` is a view of the body. */
export interface FormPart {
  readonly name: string
  /** Whether it has a file name: then it is no parameter. */
  readonly isFile: boolean
  readonly content: Buffer
}

/** An upload has one field and one file; a few more are accepted. */
const MAX_PARTS = 32
const MAX_PART_HEADERS_BYTES = 4096

const ALLOWED = 'multipart/form-data as browsers and curl -F send it'

/**
 * The fields of a `multipart/form-data` body (RFC 7578), in their order. Bytes before the first boundary and
 * after the last are ignored. Throws Refusal `malformed-request` or `too-many`.
 */
export function parseMultipart(
  body: Buffer,
  contentType: string | undefined,
  mostParts = MAX_PARTS,
): FormPart[] {
  const dashes = Buffer.from(`--${boundaryOf(contentType)}`, 'latin1')
  const separator = Buffer.concat([Buffer.from('\r\n'), dashes])
  const parts: FormPart[] = []
  let at = afterFirst(body, dashes, separator)
  while (!isEnd(body, at)) {
    const start = skipLineEnd(body, at)
    const end = body.indexOf(separator, Math.max(0, start - 2))
    if (end < 0) throw malformed('the last boundary is missing')
    if (parts.length === mostParts) throw tooManyParts(mostParts)
    parts.push(partOf(body.subarray(start, Math.max(start, end))))
    at = end + separator.length
  }
  return parts
}

function boundaryOf(contentType = ''): string {
  if (!/^\s*multipart\/form-data\s*;/i.test(contentType))
    throw malformed(`its type is ${typeIn(contentType)}`)
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
  const disposition = dispositionIn(headers.toString('utf8'))
  const isFile = /;\s*filename\*?=/i.test(disposition)
  return { name: nameIn(disposition), isFile, content: part.subarray(end + 4) }
}

function dispositionIn(headers: string): string {
  return headers.split('\r\n').find((line) => /^content-disposition\s*:/i.test(line)) ?? ''
}

function nameIn(disposition: string): string {
  const found = /;\s*name=(?:"([^"]{0,256})"|([^\s;"]{1,256}))/i.exec(disposition)
  const name = found?.[1] ?? found?.[2]
  if (name === undefined) throw malformed('a part has no name')
  return name
}

function malformed(what: string): Refusal {
  return new Refusal('malformed-request', `The body must be ${ALLOWED}, but ${what}.`, { allowed: ALLOWED })
}

function tooManyParts(most: number): Refusal {
  const allowed = `at most ${most} parts`
  return new Refusal('too-many', `The body has too many parts: ${allowed} are allowed.`, { allowed })
}

/** The content type of a request in words, for refusals: without its parameters. */
export function typeIn(contentType: string | undefined): string {
  return contentType === undefined || contentType === ''
    ? 'none'
    : shown(contentType.split(';', 1)[0]!.trim())
}

/**
 * The fields of a `multipart/form-data` body that have no file name, as a form. So they are read and searched as the fields
 * of every form. Throws as `parseMultipart` does.
 */
export function formOfMultipart(body: Buffer, contentType: string | undefined, mostFields: number): Buffer {
  const fields = parseMultipart(body, contentType, mostFields).filter(({ isFile }) => !isFile)
  const pieces = fields.flatMap(({ name, content }) => [
    escaped(Buffer.from(name)),
    EQUALS,
    escaped(content),
    AND,
  ])
  return Buffer.concat(pieces)
}

const EQUALS = Buffer.from('=')
const AND = Buffer.from('&')

/** Percent sequences for the characters that mean something in a form; other bytes stay as they are. */
function escaped(bytes: Buffer): Buffer {
  let specials = 0
  for (let at = 0; at < bytes.length; at++) if (isSpecial(bytes[at]!)) specials++
  if (specials === 0) return bytes
  const result = Buffer.allocUnsafeSlow(bytes.length + 2 * specials)
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (isSpecial(byte)) end += result.write(`%${byte.toString(16)}`, end, 'latin1')
    else result[end++] = byte
  }
  return result
}

/** Whether it is one of % & + and =. */
function isSpecial(byte: number): boolean {
  return byte === 0x25 || byte === 0x26 || byte === 0x2b || byte === 0x3d
}
