import { Type } from '../../../parameters/schema.ts'

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
