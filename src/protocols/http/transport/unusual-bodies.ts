import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import { shown } from '../../../core/text/shown.ts'
import { type FormValues, valuesOf } from '../../parameters/form-parser.ts'
import { unknownField } from '../../parameters/form-search.ts'
import { formOfMultipart } from '../../parameters/multipart.ts'
import { HEADER_ALONE, KNOWN_PUBLISH_FIELDS } from '../../parameters/publish-params.ts'
import type { CompiledRoute } from '../routing/router.ts'
import { type BodyKind, unreadType } from './body-kind.ts'
import type { BodyShare, BodyShares } from '../../sockets/body-shares.ts'

/** The fields of a multipart form as a form, which counts in the memory of bodies in its place. Throws a Refusal. */
export function formOfFields(
  body: Buffer,
  { headers, share }: { readonly headers: IncomingHttpHeaders; readonly share: BodyShare | undefined },
  { maxParameters, bodyMemory }: { readonly maxParameters: number; readonly bodyMemory: BodyShares },
): Buffer {
  const form = formOfMultipart(body, headers['content-type'], maxParameters)
  const more = form.length - body.length
  if (more > 0 && share?.take(more) === false) throw bodyMemory.refusal()
  return form
}

/** A request whose body is not a plain form. */
export interface UnusualRequest {
  readonly url: string
  readonly kind: BodyKind
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
}

/**
 * The parameters of such a request, in its query and its body. The body is a form of known fields, or the value of one
 * parameter. Throws a Refusal for a body whose type is not read, unless it is empty.
 */
export function unusualValues(
  request: UnusualRequest,
  compiled: CompiledRoute,
  maxParameters: number,
): FormValues {
  const { url, kind, body, headers } = request
  if (kind === 'refused' && body.length > 0) throw unreadType(headers['content-type'], compiled)
  if (kind === 'known-form') {
    const unknown = unknownField({ bytes: body, maxParameters }, KNOWN_PUBLISH_FIELDS)
    if (unknown !== undefined) throw unknownFieldRefusal(unknown)
    const fields = valuesOf(url, body, maxParameters)
    if ((fields.get(HEADER_ALONE) ?? '') !== '') throw noHeader(HEADER_ALONE)
    return fields
  }
  const values = valuesOf(url, undefined, maxParameters)
  if (kind === 'text' && body.length > 0) addText(values, compiled.route.textParam!, request)
  return values
}

function addText(values: FormValues, name: string, { body, headers }: UnusualRequest): void {
  if (values.get(name) !== undefined) throw twice(name)
  if (!isUtf8(body) || !hasUtf8Charset(headers['content-type'])) throw notUtf8()
  values.add(name, body.toString('utf8'))
}

function hasUtf8Charset(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

function unknownFieldRefusal(name: string): Refusal {
  const found = name === '' ? 'A field of the form has no name' : `The form has a field ${shown(name)}`
  const allowed = 'a field of a publish; an & inside a value is sent as %26'
  const message = `${found}, which no publish has. Send an & inside a value as %26, or send the content as the body, with the type text/plain.`
  return new Refusal('invalid-parameter', message, { parameter: name.slice(0, 64), allowed })
}

function noHeader(parameter: string): Refusal {
  const allowed = 'a header, and no field'
  return new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

function twice(parameter: string): Refusal {
  const allowed = 'in the query or as the body, not both'
  return new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

function notUtf8(): Refusal {
  const message = 'The body must be UTF-8. A charset in its content type must be utf-8 too.'
  return new Refusal('malformed-request', message, { allowed: 'UTF-8' })
}
