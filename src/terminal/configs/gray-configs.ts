import { isIP } from 'node:net'
import type { GrayItem } from '../answers.ts'
import {
  type CommandResult,
  DiffersError,
  UsageError,
  done,
  listed,
  timeText,
} from '../../command/command-line.ts'
import { confirmed } from '../confirmation.ts'
import { RefusedError } from '../server-session.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import {
  bytesOf,
  type ItemFlags,
  type ItemName,
  itemOf,
  itemParams,
  md5Of,
  nameText,
  textOf,
} from './item.ts'
import { type ForceFlags, requireReadable } from './readable-text.ts'
import { type GrayRule, matchingText, watchersOf } from './listeners.ts'

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
export interface GrayPublishFlags extends GrowFlags, ForceFlags {
  readonly name?: string
  readonly ips?: string
  readonly tag?: string
  readonly labels?: string
  readonly percent?: string
  readonly type?: string
  readonly yes?: boolean
}

/** `config gray publish`: publishes the bytes of a file for some clients. Asks before it replaces a version that is out. */
export async function publishGray(
  flags: GrayPublishFlags,
  word: string,
  file: string,
): Promise<CommandResult> {
  const rule = ruleOf(flags)
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const content = textOf(await bytesOf(file), file)
  await requireReadable(client, { name, content, type: flags.type }, flags)
  const grayName = flags.name ?? usualName(rule)
  const out = await versionsOut(client, name, rule)
  const replaced = out?.versions.find((version) => version.grayName === grayName)
  const matching = out === undefined ? '' : matchingText(out.listening)
  if (replaced !== undefined && !isSame(replaced, { ...rule, md5: md5Of(content) }))
    await requireYes(`${replacedText(replaced)}${matching === '' ? '' : ` The new one ${matching}.`}`, flags)
  await client.send('POST', '/cs/configs/gray', {
    ...itemParams(client, name),
    content,
    ...rule,
    grayName: flags.name,
    grayPriority: flags.priority,
    type: flags.type,
    // A version that nobody was asked about is not replaced.
    casMd5: flags.casMd5 ?? (out && (replaced?.md5 ?? '')),
    comment: flags.comment,
  })
  const fields = { ...name, ...rule, md5: md5Of(content) }
  const text = `${nameText(name)} is published for ${rule.grayMatchRuleExp} (${rule.grayType}).`
  // The clients of a share are known once it is out.
  const isLate = matching === '' && out !== undefined
  const now = isLate ? await matchingLater(client, name, { ...rule, grayName }) : matching
  return changed(client, `${text}${sentence(now)}`, fields)
}

/** It is published all the same where this cannot be asked. */
const matchingLater = (...asked: Parameters<typeof watchersOf>): Promise<string> =>
  watchersOf(...asked).then(matchingText, () => '')

const sentence = (matching: string): string => (matching === '' ? '' : ` It ${matching}.`)

/** The gray versions of an item, and its clients; undefined for callers that may only write it. */
async function versionsOut(client: SvcClient, name: ItemName, rule: GrayRule) {
  try {
    const listening = await watchersOf(client, name, rule)
    return { listening, versions: await versionsOf(client, name) }
  } catch (error) {
    if (error instanceof RefusedError) return undefined
    throw error
  }
}

async function versionsOf(client: SvcClient, name: ItemName): Promise<GrayItem['versions']> {
  const items = await client.get<GrayItem[]>('/cs/configs/gray', { namespaceId: client.namespace, ...name })
  return items.flatMap(({ versions }) => versions)
}

type Version = GrayItem['versions'][number]

function isSame(one: Version, other: Pick<Version, 'md5' | 'grayMatchRuleExp'>): boolean {
  return one.md5 === other.md5 && one.grayMatchRuleExp === other.grayMatchRuleExp
}

function replacedText({ grayName, grayMatchRuleExp, createTime, createUser, createIp }: Version): string {
  const author = createUser ?? createIp
  return `This replaces the gray version ${grayName} for ${grayMatchRuleExp}, since ${timeText(createTime)} by ${author}.`
}

/** Asks on a terminal. Throws UsageError for no, and where nobody can be asked. */
async function requireYes(text: string, flags: GrayPublishFlags): Promise<void> {
  if (flags.yes !== true && !process.stdin.isTTY)
    throw new UsageError(`${text} Without a terminal, --yes is required. Nothing was published.`)
  if (!(await confirmed(`${text}\nPublish it?`, flags))) throw new UsageError('Nothing was published.')
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
  if (grayName === 'beta') checkAddresses(grayMatchRuleExp!)
  await client.send('PUT', '/cs/configs/gray', {
    ...itemParams(client, name),
    grayName,
    grayMatchRuleExp,
    grayPriority,
    comment,
  })
  const text = `${nameText(name)} ${grayName} is for ${grayMatchRuleExp} now.`
  const { grayType = '' } = (await versionsOf(client, name)).find((one) => one.grayName === grayName) ?? {}
  const rule = { grayType, grayMatchRuleExp: grayMatchRuleExp!, grayName: grayName! }
  const matching = grayType === '' ? '' : matchingText(await watchersOf(client, name, rule))
  return changed(client, `${text}${sentence(matching)}`, { ...name, grayName, grayMatchRuleExp })
}

/** `config gray promote`: gives the text of a gray version to all. */
export async function promoteGray(flags: GrayChangeFlags, words: readonly string[]): Promise<CommandResult> {
  const { client, name, grayName, form } = await changeOf(flags, words)
  await client.send('POST', '/cs/configs/gray/promote', form)
  return changed(client, `${nameText(name)} has the text of ${grayName} for all.`, { ...name, grayName })
}

/** `config gray stop`: ends a gray version. */
export async function stopGray(flags: GrayChangeFlags, words: readonly string[]): Promise<CommandResult> {
  const { client, name, grayName, form } = await changeOf(flags, words)
  await client.send('DELETE', '/cs/configs/gray', form)
  return changed(client, `${nameText(name)} ${grayName} has ended.`, { ...name, grayName })
}

async function changeOf(flags: GrayChangeFlags, words: readonly string[]) {
  const [word, given] = words
  const client = clientOf(flags)
  const name = itemOf(word!, flags)
  const grayName = given ?? (await onlyNameOf(client, name))
  const { casMd5, comment } = flags
  return { client, name, grayName, form: { ...itemParams(client, name), grayName, casMd5, comment } }
}

/** The name of the only gray version. Throws UsageError where there are several, DiffersError where there is none. */
async function onlyNameOf(client: SvcClient, name: ItemName): Promise<string> {
  const names = (await versionsOf(client, name)).map(({ grayName }) => grayName)
  if (names.length > 1) throw new UsageError(`Name one of the gray versions of it: ${names.join(', ')}`)
  if (names.length === 0) throw new DiffersError(`${nameText(name)} has no gray version.`)
  return names[0]!
}

const KINDS = [
  ['ips', 'beta'],
  ['tag', 'tag'],
  ['labels', 'tagv2'],
  ['percent', 'percent'],
] as const

/** The rule of a version. Throws UsageError for flags without a rule, or with several. */
function ruleOf(flags: GrayPublishFlags): GrayRule {
  const said = KINDS.flatMap(([flag, grayType]) => {
    const grayMatchRuleExp = flags[flag]
    return grayMatchRuleExp === undefined ? [] : [{ grayType, grayMatchRuleExp }]
  })
  const [rule] = said
  if (rule === undefined || said.length > 1)
    throw new UsageError('name one of --ips, --tag, --labels and --percent')
  if (rule.grayType === 'beta') checkAddresses(rule.grayMatchRuleExp)
  return rule
}

/** Throws UsageError for a list with something that is no address: no client would ever get the version. */
function checkAddresses(list: string): void {
  const wrong = list.split(',').find((part) => isIP(part.trim()) === 0)
  if (wrong !== undefined) throw new UsageError(`${JSON.stringify(wrong.trim())} is no IP address`)
}

/** The name that a version for addresses or a tag has. */
function usualName({ grayType, grayMatchRuleExp }: GrayRule): string | undefined {
  if (grayType === 'tag') return `tag_${grayMatchRuleExp}`
  return grayType === 'beta' ? 'beta' : undefined
}

function changed(client: SvcClient, text: string, fields: object): CommandResult {
  return done(text, { namespaceId: client.namespace || 'public', ...fields })
}
