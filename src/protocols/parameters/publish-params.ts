import { type Schema, Type } from './schema.ts'
import {
  CONFIG_TYPES,
  type ConfigKey,
  configKey,
  type ConfigType,
} from '../../core/config/state/config-item.ts'
import { typeOfName, typeOfWord } from '../../core/config/state/type-names.ts'
import { invalid } from './parameter-field.ts'
import { type ConfigNotes, NO_NOTES } from '../../core/config/state/config-notes.ts'
import * as fields from './fields.ts'
import { toNamespaceId } from '../../core/namespaces/namespace.ts'

/** The parameters that name a configuration item. */
export const KEY_PARAMS = {
  tenant: Type.Optional(fields.tenant),
  dataId: fields.dataId,
  group: fields.group,
}

/** The item that a request names. */
export function toConfigKey(named: {
  readonly tenant?: string
  readonly dataId: string
  readonly group: string
}): ConfigKey {
  return configKey(toNamespaceId(named.tenant), named.group, named.dataId)
}

/** How large a publish may be, in bytes: its content, and the form that carries it. */
export interface PublishLimits {
  readonly maxContentBytes: number
  readonly maxFormBodyBytes: number
}

/** The parameters of a publish, by the names of the dialect with the most parameters. */
export interface PublishParams {
  readonly tenant?: string
  readonly dataId: string
  readonly group: string
  readonly content: string
  readonly type?: string
  readonly appName?: string
  readonly desc?: string
  readonly use?: string
  readonly effect?: string
  readonly schema?: string
  readonly config_tags?: string
  readonly src_user?: string
  readonly encryptedDataKey?: string
  readonly comment?: string
}

/** The parameters that every publish has. */
export function publishParams({ maxContentBytes }: PublishLimits) {
  const content = Type.String({
    ...fields.content,
    maxBytes: maxContentBytes,
    description: `The content, at most ${maxContentBytes} bytes of UTF-8, not blank.`,
  })
  return { ...KEY_PARAMS, content, type: Type.Optional(fields.configType) }
}

/** The reason of a change. */
export const comment = Type.String({
  maxLength: 512,
  description: 'Why, for those who look at the versions later.',
})

/** The parameters of a publish besides the content. If an empty value counts as a value, it clears the note. */
export function noteParams({ isEmptyAValue }: { isEmptyAValue: boolean }) {
  const noted = <S extends Schema>(field: S) =>
    Type.Optional(isEmptyAValue ? fields.allowingEmpty(field) : field)
  return {
    appName: noted(fields.appName),
    desc: noted(fields.desc),
    use: noted(fields.use),
    effect: noted(fields.effect),
    schema: noted(fields.schema),
    config_tags: noted(fields.configTags),
    src_user: Type.Optional(fields.srcUser),
    encryptedDataKey: Type.Optional(fields.encryptedDataKey),
    casMd5: noted(fields.casMd5),
  }
}

/** The fields that a publish of any dialect has, the credentials, and `encoding`, which old clients send with all requests. */
export const KNOWN_PUBLISH_FIELDS: ReadonlySet<string> = new Set(
  (
    'dataId group groupName tenant namespaceId content type appName desc use effect schema config_tags configTags src_user ' +
    'srcUser encryptedDataKey casMd5 comment tag betaIps import clone grayName grayRuleExp grayMatchRuleExp grayVersion grayPriority grayType ' +
    'accessToken username password encoding'
  ).split(' '),
)

/** A header of a publish. As a field it has no effect, so that the text would be for all. */
export const HEADER_ALONE = 'betaIps'

/** The input of the publish operation. `casMd5` undefined: whatever the current content is. */
export function toPublishRequest(params: PublishParams, casMd5?: string, typeIfNew?: ConfigType) {
  return {
    key: toConfigKey(params),
    content: bytesOf(params.content),
    // An unknown word leaves the type.
    type: params.type === undefined ? undefined : typeOfWord(params.type),
    typeIfNew,
    notes: notesOf(params),
    casMd5,
    comment: params.comment,
    srcUser: params.src_user,
  }
}

/** A buffer that owns its memory: one from Node's pool would keep 8 KiB alive as long as the item lives. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/**
 * The same under `/svc`: an unknown type is refused (`invalid-parameter`), and a new item without one takes the type that its
 * name says.
 */
export function toStrictPublishRequest(params: PublishParams, casMd5?: string) {
  const request = toPublishRequest(params, casMd5, typeOfName(params.dataId))
  if (params.type !== undefined && request.type === undefined)
    throw invalid('type', `one of ${CONFIG_TYPES.join(', ')}, or a usual name of one`, params.type)
  return request
}

/** The parameters that are notes, and the names of the notes. */
const NOTES = [
  ['appName', 'appName'],
  ['desc', 'desc'],
  ['use', 'use'],
  ['effect', 'effect'],
  ['schema', 'schema'],
  ['config_tags', 'configTags'],
] as const satisfies readonly (readonly [keyof PublishParams, keyof ConfigNotes])[]

/** A note that the client leaves out is no key of the result, and stays as it was. */
function notesOf(params: PublishParams): Partial<ConfigNotes> {
  // The key belongs to this very content: a publish without one is of a content that is not encrypted.
  const notes: Record<string, string | null> = { encryptedDataKey: params.encryptedDataKey ?? '' }
  for (const [parameter, name] of NOTES) {
    const value = params[parameter]
    if (value !== undefined) notes[name] = value === '' && NO_NOTES[name] === null ? null : value
  }
  return notes
}
