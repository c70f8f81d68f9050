import { hash } from 'node:crypto'
import { Type } from '../../../parameters/schema.ts'
import { CONFIG_TYPES, type ConfigType } from '../../../../core/config/config-item.ts'
import type { ConfigNotes } from '../../../../core/config/config-notes.ts'
import type { PublishConfig } from '../../../../core/config/publish-config.ts'
import * as fields from '../../../parameters/fields.ts'
import type { Caller } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey } from './config-key.ts'

/** How large a publish may be, in bytes: its content, and the form that carries it. */
export interface PublishLimits {
  readonly maxContentBytes: number
  readonly maxFormBodyBytes: number
}

/** What a client may say when it publishes, in the words of the most talkative dialect. */
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

/** The wish of a client that publishes. `casMd5` undefined: whatever the current content is. */
export function toPublishConfig(
  params: PublishParams,
  caller: Pick<Caller, 'ip'>,
  casMd5?: string,
): PublishConfig {
  const content = bytesOf(params.content)
  return {
    key: toConfigKey(params),
    content,
    md5: hash('md5', content, 'hex'),
    type: params.type === undefined ? undefined : toConfigType(params.type),
    notes: notesOf(params),
    casMd5,
    operator: { ip: caller.ip, user: params.src_user ?? null },
  }
}

/** A buffer of its own: one that shares node's pool would keep 8 KiB alive as long as the item lives. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

function toConfigType(text: string): ConfigType {
  return CONFIG_TYPES.find((type) => type === text) ?? 'text'
}

/** The parameters that are notes, and what they are called there. */
const NOTES = [
  ['appName', 'appName'],
  ['desc', 'desc'],
  ['use', 'use'],
  ['effect', 'effect'],
  ['schema', 'schema'],
  ['config_tags', 'configTags'],
] as const satisfies readonly (readonly [keyof PublishParams, keyof ConfigNotes])[]

/** What the client says; what it leaves out is no key here, and stays as it was. */
function notesOf(params: PublishParams): Partial<ConfigNotes> {
  // The key belongs to this very content: a publish without one is of a content that is not encrypted.
  const notes: Record<string, string> = { encryptedDataKey: params.encryptedDataKey ?? '' }
  for (const [parameter, name] of NOTES) {
    const said = params[parameter]
    if (said !== undefined) notes[name] = said
  }
  return notes
}
