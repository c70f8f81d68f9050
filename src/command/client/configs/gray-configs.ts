import type { GrayItem } from '../answers.ts'
import { type CommandResult, UsageError, done, listed, timeText } from '../../command-line.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { bytesOf, type ItemFlags, itemOf, itemParams, md5Of, nameText, textOf } from './item.ts'

/** The flags of commands that change a gray version. */
export interface GrayChangeFlags extends ItemFlags {
  readonly casMd5?: string
  readonly comment?: string
}

/** The flags of `config gray grow`. */
export interface GrowFlags extends GrayChangeFlags {
  readonly priority?: string
}

/** The flags of `config gray publish`. */
export interface GrayPublishFlags extends GrowFlags {
  readonly name?: string
  readonly ips?: string
  readonly tag?: string
  readonly labels?: string
  readonly percent?: string
  readonly type?: string
}

/** `config gray publish`: publishes the bytes of a file for some clients. */
export async function publishGray(
  flags: GrayPublishFlags,
  word: string,
  file: string,
): Promise<CommandResult> {
  const rule = ruleOf(flags)
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const content = textOf(await bytesOf(file), file)
  await client.send('POST', '/cs/configs/gray', {
    ...itemParams(client, name),
    content,
    ...rule,
    grayName: flags.name,
    grayPriority: flags.priority,
    type: flags.type,
    casMd5: flags.casMd5,
    comment: flags.comment,
  })
  const fields = { ...name, ...rule, md5: md5Of(content) }
  return changed(
    client,
    `${nameText(name)} is published for ${rule.grayMatchRuleExp} (${rule.grayType}).`,
    fields,
  )
}

/** `config gray list`: the gray versions that are out. */
export async function listGray(flags: ItemFlags, word: string | undefined): Promise<CommandResult> {
  const client = clientOf(flags)
  const named = word === undefined ? { group: flags.group } : itemOf(word, flags)
  const items = await client.all<GrayItem>('/cs/configs/gray', { namespaceId: client.namespace, ...named })
  const versions = items.flatMap(({ dataId, group, versions: all }) =>
    all.map((version) => ({ group, dataId, ...version })),
  )
  return listed(
    versions,
    [
      ['ITEM', nameText],
      ['NAME', ({ grayName }) => grayName],
      ['KIND', ({ grayType }) => grayType],
      ['FOR', ({ grayMatchRuleExp }) => grayMatchRuleExp],
      ['PRIORITY', ({ grayPriority }) => grayPriority],
      ['SINCE', ({ createTime }) => timeText(createTime)],
      ['BY', ({ createUser, createIp }) => createUser ?? createIp],
      ['COMMENT', ({ comment }) => comment],
    ],
    (version) => `${nameText(version)} ${version.grayName}`,
  )
}

/** `config gray grow`: gives a gray version to other clients. */
export async function growGray(flags: GrowFlags, words: readonly string[]): Promise<CommandResult> {
  const [word, grayName, grayMatchRuleExp] = words
  const client = clientOf(flags)
  const name = itemOf(word!, flags)
  const { comment, priority: grayPriority } = flags
  await client.send('PUT', '/cs/configs/gray', {
    ...itemParams(client, name),
    grayName,
    grayMatchRuleExp,
    grayPriority,
    comment,
  })
  const text = `${nameText(name)} ${grayName} is for ${grayMatchRuleExp} now.`
  return changed(client, text, { ...name, grayName, grayMatchRuleExp })
}

/** `config gray promote`: gives the text of a gray version to all. */
export async function promoteGray(flags: GrayChangeFlags, words: readonly string[]): Promise<CommandResult> {
  const { client, name, grayName, form } = changeOf(flags, words)
  await client.send('POST', '/cs/configs/gray/promote', form)
  return changed(client, `${nameText(name)} has the text of ${grayName} for all.`, { ...name, grayName })
}

/** `config gray stop`: ends a gray version. */
export async function stopGray(flags: GrayChangeFlags, words: readonly string[]): Promise<CommandResult> {
  const { client, name, grayName, form } = changeOf(flags, words)
  await client.send('DELETE', '/cs/configs/gray', form)
  return changed(client, `${nameText(name)} ${grayName} has ended.`, { ...name, grayName })
}

function changeOf(flags: GrayChangeFlags, words: readonly string[]) {
  const [word, grayName] = words
  const client = clientOf(flags)
  const name = itemOf(word!, flags)
  const { casMd5, comment } = flags
  return { client, name, grayName, form: { ...itemParams(client, name), grayName, casMd5, comment } }
}

const KINDS = [
  ['ips', 'beta'],
  ['tag', 'tag'],
  ['labels', 'tagv2'],
  ['percent', 'percent'],
] as const

/** The rule of a version. Throws UsageError for flags without a rule, or with several. */
function ruleOf(flags: GrayPublishFlags): { readonly grayType: string; readonly grayMatchRuleExp: string } {
  const said = KINDS.flatMap(([flag, grayType]) => {
    const grayMatchRuleExp = flags[flag]
    return grayMatchRuleExp === undefined ? [] : [{ grayType, grayMatchRuleExp }]
  })
  const [rule] = said
  if (rule === undefined || said.length > 1)
    throw new UsageError('name one of --ips, --tag, --labels and --percent')
  return rule
}

function changed(client: SvcClient, text: string, fields: object): CommandResult {
  return done(text, { namespaceId: client.namespace || 'public', ...fields })
}
