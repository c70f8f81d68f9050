import { NOTE_LENGTHS, TAGS_RULE } from '../../core/config/state/config-notes.ts'
import { MAX_TYPE_LENGTH } from '../../core/config/state/type-names.ts'
import type { FieldSchema } from './parameter-field.ts'
import { type Schema, Type } from './schema.ts'

/*
 * The parameters of the interface, declared once. One that a single endpoint has is in the file of the endpoint. Requests are
 * checked by these schemas, and the OpenAPI document and docs/ publish them. They are required here; a route wraps them in
 * Type.Optional or gives them a default with withDefault.
 *
 * Sections 0 (the parameter filter of 2.3 and later) and 1 (the rules before it) of http-compat.md differ.
 * Lengths are those of section 0, which every server of 2.x keeps to in the end. The characters of dataId and
 * group are the wider set of section 1, Unicode letters and digits included. Items with such names exist on
 * 2.0 to 2.2 and on 1.x and have to be movable; nothing here depends on ASCII. Namespace ids have the narrow
 * set of section 0, since no other can be created. Lengths of names count UTF-16 units.
 */

/*
 * The characters that names are made of. No pattern repeats within a repetition: each is linear in the length,
 * and lengths are judged before patterns.
 */

const NAME = '^[\\p{L}\\p{Nd}_.:-]+$'
const NAME_ALLOWED = 'letters, digits and _ - . : only'
const ID = '^[0-9A-Za-z_-]+$'
const ID_ALLOWED = 'letters a-z and A-Z, digits, _ and - only'

// ---- Kinds of fields

/** A text of at most so many characters. */
function text(maxLength: number, description: string): Schema<string> {
  return Type.String({ maxLength, description })
}

/** A text of JSON. */
function json(maxLength: number, description: string): Schema<string> {
  return Type.String({ mayBeJson: true, maxLength, description })
}

/** A name as {@link NAME} has it. */
function name(maxLength: number, description: string, more: Partial<FieldSchema> = {}): Schema<string> {
  const allowed = `at most ${maxLength} characters: ${NAME_ALLOWED}`
  return Type.String({ maxLength, pattern: NAME, allowed, ...more, description })
}

/** An id as {@link ID} has it. */
function id(description: string): Schema<string> {
  return Type.String({
    maxLength: 64,
    pattern: ID,
    allowed: `at most 64 characters: ${ID_ALLOWED}`,
    description,
  })
}

function integer(minimum: number, maximum: number, description: string): Schema<number> {
  return Type.Integer({ minimum, maximum, description })
}

// ---- Variations of a field

/** The same parameter under further names, read in this order where its own is absent or empty. */
export function withAliases<T extends Schema>(field: T, ...aliases: string[]): T {
  return variation(field, { aliases })
}

/** The same parameter with a default: always present for the handler. */
export function withDefault<T extends Schema>(field: T, value: string | number | boolean): T {
  return variation(field, { default: value })
}

/** The same parameter with another description. */
export function withDescription<T extends Schema>(field: T, description: string): T {
  return variation(field, { description })
}

/** The same parameter where '' is a value and not absence. */
export function allowingEmpty<T extends Schema>(field: T): T {
  return variation(field, { allowEmpty: true })
}

function variation<T extends Schema>(field: T, change: Partial<FieldSchema>): T {
  return { ...field, ...change }
}

/** The group of items without a group. */
export const DEFAULT_GROUP = 'DEFAULT_GROUP'

/** No spaces, no control or invisible characters, no CJK ideographs of the set that 2.x refuses. */
const PLAIN = '[^\\s\\p{Cc}\\p{Cf}\\u4E00-\\u9FA5]'

// ---- Names

export const tenant = id('The namespace of the item. Absent, empty and `public` are the same namespace.')

export const namespaceId = id(
  'The namespace of the service. Absent, empty and `public` are the same namespace.',
)

export const serviceName = Type.String({
  maxLength: 512,
  pattern: `^(?!@)(?!.*@@$)${PLAIN}+$`,
  allowed: 'a name, or <group>@@<name>, of at most 512 characters without spaces or CJK characters',
  description: 'The name of the service, alone or as `<group>@@<name>`; groupName is ignored then.',
})

export const groupName = name(128, 'The group of the service.')

export const groupNameOrAll = Type.String({
  maxLength: 128,
  pattern: `${NAME}|^\\*$`,
  allowed: `*, or at most 128 characters: ${NAME_ALLOWED}`,
  description: 'The group of the services; `*` means every group.',
})

export const groupNameOrDefault = withDefault(groupName, DEFAULT_GROUP)

export const clusterName = id('The cluster of the instance.')

export const clusters = Type.String({
  maxLength: 4096,
  pattern: '^[0-9A-Za-z_, -]+$',
  allowed: `cluster names separated by commas, ${ID_ALLOWED}`,
  // Clients find the answer again by the text that they sent.
  trim: false,
  description: 'Only the instances of these clusters, separated by commas; empty: of all.',
})

export const ip = Type.String({
  maxLength: 128,
  // Beyond 2.x: an instance id joins its parts with #, and a probe puts the address into a URL.
  pattern: '^[^\\s\\p{Cc}\\p{Cf}\\u4E00-\\u9FA5#/\\\\?@<>"\'&,;]+$',
  allowed: 'an IP address or a host name of at most 128 characters',
  description: 'The IP address or host name of the instance.',
})

export const app = text(256, 'The name of the application that asks.')

// ---- Pages

/** The largest integer of Java: clients send it as the size of a page that holds everything. */
const LARGEST_INT = 2_147_483_647

export const pageNo = integer(1, LARGEST_INT, 'The page, counted from 1.')

export const pageNoOrZero = integer(0, LARGEST_INT, 'The page, from 1; 0 is the first.')

export const pageSize = integer(1, LARGEST_INT, 'Entries on a page.')

export const pageSizeOrZero = integer(0, LARGEST_INT, 'Entries on a page; 0 asks for the total count alone.')

/** The two parameters of a page, with the size of a page that is not named. */
export function page(usualSize: number) {
  return { pageNo: withDefault(pageNo, 1), pageSize: withDefault(pageSize, usualSize) }
}

// ---- Instances and services

export const port = integer(0, 65535, 'The port of the instance.')

export const weight = Type.Number({
  minimum: 0,
  maximum: 10_000,
  description: 'The share of calls that the instance takes.',
})

export const enabled = Type.Boolean({ description: 'Whether the instance takes calls at all.' })
export const healthy = Type.Boolean({ description: 'Whether the instance is healthy.' })
export const ephemeral = Type.Boolean({
  description: 'Whether the instance lives by its beats, or persists.',
})
export const lift = Type.Boolean({
  description: 'Lifts all that operators have set: the instances are as their applications say.',
})
export const healthyOnly = Type.Boolean({ description: 'Only healthy instances.' })

export const metadata = json(1024 * 1024, 'A JSON object, or `k=v,k2=v2`. The word `null` means no metadata.')

export const beat = json(
  1024 * 1024,
  'JSON: ip, port, cluster, weight, metadata, serviceName, ephemeral, scheduled.',
)

export const instances = json(
  8 * 1024 * 1024,
  'JSON: an array of objects with ip, port, ephemeral and clusterName.',
)

export const consistencyType = text(32, 'ephemeral or persist: all instances of that kind. Any other: none.')

export const udpPort = integer(0, 65535, 'The port at which the client takes pushes; 0: none.')

export const clientIP = text(128, 'The address of the consumer, for selectors.')

export const protectThreshold = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'The healthy share at or below which all instances are given out; 0: never.',
})

export const selector = json(4096, 'JSON: {"type":"none"} or {"type":"label","expression":"…"}.')

export const healthChecker = json(
  8192,
  'JSON: an object with type TCP, HTTP, MYSQL or NONE and the fields of that type. Secrets that are left out stay.',
)

export const checkPort = integer(
  0,
  65535,
  'The port that probes use unless they use the port of the instance.',
)

export const useInstancePort4Check = Type.Boolean({
  description: 'Whether probes use the port of the instance.',
})

// ---- Namespaces and the operator

export const customNamespaceId = Type.String({
  maxLength: 64,
  pattern: ID,
  allowed: `empty, or at most 64 characters: ${ID_ALLOWED}`,
  allowEmpty: true,
  description: 'The id of the new namespace; empty: one is made up.',
})

export const namespaceName = Type.String({
  maxLength: 256,
  pattern: '^(?=.*\\S)[^@#$%^&*\\p{Cc}]+$',
  trim: true,
  allowed: 'at most 256 characters, not blank, without @ # $ % ^ & *',
  description: 'The name that people see.',
})

export const namespaceDesc = text(256, 'What the namespace is for.')

export const switchEntry = text(64, 'The name of the switch.')
export const switchValue = json(65536, 'Its new value.')

// ---- Configurations

/** 10 MiB of UTF-8: the most that one item may hold. */
export const MAX_CONTENT_BYTES = 10 * 1024 * 1024

/** A form that carries such a content with every byte escaped, and the names beside it. */
export const MAX_PUBLISH_BODY_BYTES = 32 * 1024 * 1024

export const dataId = name(256, 'The id of the configuration item.', { trim: true })

export const group = name(128, 'The group of the configuration item.', { trim: true })

export const content = Type.String({
  maxBytes: MAX_CONTENT_BYTES,
  pattern: '\\S',
  allowed: 'a text that is not blank',
  trim: false,
  description: 'The content, at most 10 MiB of UTF-8, not blank.',
})

export const configType = text(
  MAX_TYPE_LENGTH,
  'properties, xml, json, text, html, yaml, toml or unset, by any usual name, such as `yml` or `application/json`. Any other is refused under /svc, and leaves the type under /nacos.',
)

export const appName = text(NOTE_LENGTHS.appName, 'The application that the item belongs to.')
export const desc = text(NOTE_LENGTHS.desc, 'What the item is for.')
export const use = text(NOTE_LENGTHS.use, 'How the item is used.')
export const effect = text(NOTE_LENGTHS.effect, 'When a change of the item takes effect.')
export const schema = text(NOTE_LENGTHS.schema, 'The schema of the content.')
export const srcUser = text(128, 'The user that publishes, for the history.')
export const encryptedDataKey = text(NOTE_LENGTHS.encryptedDataKey, 'The key of an encrypted content.')

export const configTags = Type.String({
  maxLength: NOTE_LENGTHS.configTags,
  ...TAGS_RULE,
  description: 'Tags to find the item by, separated by commas.',
})

export const casMd5 = text(
  32,
  'Change the item only if this is the md5 of its current content; under /svc empty: if there is none.',
)

export const tag = name(16, 'A tag of the content to read.')

export const listeningConfigs = Type.String({
  maxLength: 8 * 1024 * 1024,
  trim: false,
  description:
    'The watched items: dataId ^2 group ^2 md5 [^2 tenant] ^1 each (^n: the character with code n).',
})

export const historyId = integer(
  0,
  Number.MAX_SAFE_INTEGER,
  'The id of a history record, as the history list shows it.',
)

// ---- Users

/** No control or invisible characters, and no blank at the start or the end: blanks there are trimmed. */
const PERSONAL = '^(?!\\s)[^\\p{Cc}\\p{Cf}]*[^\\s\\p{Cc}\\p{Cf}]$'
const PERSONAL_ALLOWED =
  'at most 128 characters, none of them invisible, and no blank at the start or the end'

export const username = text(128, 'The name of the user.')

export const newUsername = Type.String({
  maxLength: 128,
  // The audit calls nobody `-`.
  pattern: `^(?!-$)${PERSONAL.slice(1)}`,
  allowed: `${PERSONAL_ALLOWED}, and not - alone`,
  trim: true,
  description: 'The name of the user.',
})

export const role = Type.String({
  maxLength: 128,
  pattern: PERSONAL,
  allowed: PERSONAL_ALLOWED,
  trim: true,
  description: 'The name of the role. ROLE_ADMIN may do everything.',
})

export const resource = text(
  1024,
  '`<namespace>:<group>:config/<dataId>`, `<namespace>:<group>:naming/<service>`, `<namespace>:<group>:*` for both, or ' +
    '`operator/metrics`. `*` stands for any characters, the empty namespace for public.',
)

export const password = Type.String({ maxLength: 256, trim: false, description: 'The password.' })
