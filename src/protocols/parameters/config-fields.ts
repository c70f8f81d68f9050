import { Type } from './schema.ts'
import { NAME, NAME_ALLOWED } from './name-characters.ts'

/** 10 MiB of UTF-8: the most that one item may hold. */
export const MAX_CONTENT_BYTES = 10 * 1024 * 1024

/** A form that carries such a content with every byte escaped, and the names beside it. */
export const MAX_PUBLISH_BODY_BYTES = 32 * 1024 * 1024

export const dataId = Type.String({
  maxLength: 256,
  pattern: NAME,
  allowed: `at most 256 characters: ${NAME_ALLOWED}`,
  trim: true,
  description: 'The id of the configuration item.',
})

export const group = Type.String({
  maxLength: 128,
  pattern: NAME,
  allowed: `at most 128 characters: ${NAME_ALLOWED}`,
  trim: true,
  description: 'The group of the configuration item.',
})

export const content = Type.String({
  maxBytes: MAX_CONTENT_BYTES,
  pattern: '\\S',
  allowed: 'a text that is not blank',
  trim: false,
  description: 'The content, at most 10 MiB of UTF-8, not blank.',
})

export const configType = Type.String({
  maxLength: 32,
  description: 'properties, xml, json, text, html, yaml, toml or unset; any other counts as text.',
})

export const appName = Type.String({
  maxLength: 256,
  description: 'The application that the item belongs to.',
})
export const desc = Type.String({ maxLength: 128, description: 'What the item is for.' })
export const use = Type.String({ maxLength: 32, description: 'How the item is used.' })
export const effect = Type.String({ maxLength: 32, description: 'When a change of the item takes effect.' })
export const schema = Type.String({ maxLength: 32768, description: 'The schema of the content.' })
export const srcUser = Type.String({ maxLength: 128, description: 'Who publishes, for the history.' })
export const encryptedDataKey = Type.String({
  maxLength: 1024,
  description: 'The key of an encrypted content.',
})

export const configTags = Type.String({
  maxLength: 324,
  pattern: '^[^,]{0,64}(,[^,]{0,64}){0,4}$',
  allowed: 'at most 5 tags of at most 64 characters, separated by commas',
  description: 'Tags to find the item by, separated by commas.',
})

export const casMd5 = Type.String({
  maxLength: 32,
  description: 'Publish only if this is the md5 of the current content.',
})

export const tag = Type.String({
  maxLength: 16,
  pattern: NAME,
  allowed: `at most 16 characters: ${NAME_ALLOWED}`,
  description: 'A tag of the content to read.',
})

export const listeningConfigs = Type.String({
  maxLength: 8 * 1024 * 1024,
  trim: false,
  description:
    'The watched items: dataId ^2 group ^2 md5 [^2 tenant] ^1 each (^n: the character with code n).',
})

export const historyId = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The id of a history record, as the history list shows it.',
})
