import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'

const { pattern = '', allowed = '' } = fields.namespaceId

const namespaceIdOrAll = Type.String({
  ...fields.namespaceId,
  pattern: `${pattern}|^\\*$`,
  allowed: `*, or ${allowed}`,
  description:
    'The namespace; absent, empty and `public` are the same one. `*`: every one that the caller may read.',
})

/** The parameters that say of which namespace, or of all, something is shown. */
export const SCOPE_PARAMS = { namespaceId: Type.Optional(namespaceIdOrAll) }

/** The namespace of a request; undefined: every namespace. */
export function scopeOf(params: { readonly namespaceId?: string }): string | undefined {
  return params.namespaceId === '*' ? undefined : toNamespaceId(params.namespaceId)
}

/** A part of the address of an instance. */
export const ADDRESS_PARAM = Type.String({
  maxLength: 128,
  description: 'A part of the `ip:port` of an instance.',
})

/** A key of metadata, or a key and its value. */
export const METADATA_PARAM = Type.String({
  maxLength: 1024,
  description: 'A key of the metadata, or `key=value`.',
})

/** Parses METADATA_PARAM. */
export function metadataPair(
  text: string | undefined,
): readonly [name: string, value: string | undefined] | undefined {
  if (text === undefined) return undefined
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
