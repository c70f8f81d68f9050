import type {
  Comparison,
  ConfigVersion,
  ConfigVersionText,
  GrayOnlyConfig,
  ListedConfig,
  ListedConfigPage,
} from '../answers.ts'
import {
  type CommandResult,
  DiffersError,
  EXIT,
  UsageError,
  listed,
  timeText,
} from '../../command/command-line.ts'
import { Painted, painted } from '../../command/terminal-text.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { type NamedText, unifiedDiff } from '../text-diff.ts'
import {
  bytesOf,
  type ItemFlags,
  type ItemName,
  itemOf,
  itemParams,
  nameText,
  readItem,
  textOf,
} from './item.ts'

/** The flags of `config get`. */
export interface GetFlags extends ItemFlags {
  readonly version?: string
}

/** `config get`: only the bytes of the content; with a format, all facts of the item. */
export async function getConfig(flags: GetFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const names = [nameText(name)]
  if (flags.version !== undefined) {
    const json = await versionOf(client, name, flags.version)
    return { code: EXIT.done, bytes: Buffer.from(json.content), text: json.content, json, names }
  }
  if (flags.output === undefined)
    return { code: EXIT.done, bytes: await client.bytes('/cs/configs', itemParams(client, name)) }
  const json = await readItem(client, name)
  return { code: EXIT.done, text: json.content, json, names }
}

function versionOf(client: SvcClient, name: ItemName, historyId: string): Promise<ConfigVersionText> {
  return client.get('/console/config/version', { ...itemParams(client, name), historyId })
}

/** The flags of `config list`. */
export interface ListFlags extends ClientFlags {
  readonly group?: string
  readonly type?: string
  readonly tag?: string
  readonly content?: string
}

/** `config list`. */
export async function listConfigs(flags: ListFlags, text = ''): Promise<CommandResult> {
  const client = clientOf(flags)
  const { group, type: types, tag, content } = flags
  const search = { text, group, types, config_tags: tag, content }
  const found = [...(await allConfigs(client, search)), ...(await grayOnlyConfigs(client, search))]
  return listed<ListedConfig | GrayOnlyConfig>(
    found,
    [
      ['GROUP', (item) => item.group],
      ['DATA ID', (item) => item.dataId],
      ['TYPE', (item) => ('type' in item ? item.type : `only gray: ${item.grayNames.join(', ')}`)],
      ['BYTES', (item) => ('size' in item ? item.size : null)],
      ['MD5', (item) => ('md5' in item ? item.md5 : null)],
      ['CHANGED', ({ modifyTime }) => timeText(modifyTime)],
      ['BY', ({ modifyUser }) => modifyUser],
      ['CLIENTS', (item) => ('watcherCount' in item ? item.watcherCount : null)],
    ],
    nameText,
  )
}

/** The items of the namespace that match, all pages. */
export async function allConfigs(
  client: SvcClient,
  search: Readonly<Record<string, string | undefined>>,
): Promise<ListedConfig[]> {
  const namespaceId = client.namespace || 'public'
  const found: ListedConfig[] = []
  // A search of contents ends after a portion, and says where to continue.
  for (let after: string | undefined; ;) {
    const part = await client.portion<ListedConfig>('/console/configs', { ...search, namespaceId, after })
    found.push(...part.items)
    if (part.next === null) return found
    after = part.next
  }
}

/** The items of the namespace that match and have gray versions only. */
async function grayOnlyConfigs(
  client: SvcClient,
  search: Readonly<Record<string, string | undefined>>,
): Promise<readonly GrayOnlyConfig[]> {
  const namespaceId = client.namespace || 'public'
  const found: GrayOnlyConfig[] = []
  for (let pageNo = 1; ; pageNo++) {
    const page = { ...search, namespaceId, pageNo, pageSize: LARGEST_PAGE }
    const { grayOnly, grayOnlyCount } = await client.get<ListedConfigPage>('/console/configs', page)
    found.push(...grayOnly)
    if (grayOnly.length === 0 || found.length >= grayOnlyCount) return found
  }
}

const LARGEST_PAGE = 500

/** `config history`: the versions, newest first. */
export async function historyOf(flags: ItemFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const asked = { ...itemParams(client, name), withGray: true }
  const found = await client.all<ConfigVersion>('/console/config/versions', asked)
  if (found.length === 0) throw new DiffersError(`Nothing is known of ${nameText(name)}.`)
  return listed<ConfigVersion>(
    found,
    [
      ['VERSION', ({ historyId, current }) => historyId + (current ? ' *' : '')],
      ['CHANGE', changeText],
      ['AT', ({ atMs }) => timeText(atMs)],
      ['BY', ({ user, ip }) => user ?? ip],
      ['BYTES', ({ size }) => size],
      ['MD5', ({ md5 }) => md5],
      ['COMMENT', ({ comment }) => comment],
    ],
    ({ historyId }) => historyId,
  )
}

const OPERATIONS = { I: 'made', U: 'changed', D: 'deleted' } as const
const GRAY_OPERATIONS = { I: '', U: ' changed', D: ' ended' } as const

function changeText({ op, promotedFrom, grayName, grayMatchRuleExp }: ConfigVersion): string {
  if (promotedFrom !== undefined) return `promoted from ${promotedFrom}`
  if (grayName === undefined) return OPERATIONS[op]
  return `gray ${grayName}${GRAY_OPERATIONS[op]}, for ${grayMatchRuleExp}`
}

/** The flags of `config diff`. */
export interface DiffFlags extends ItemFlags {
  readonly version?: string
  readonly with?: string
  readonly to?: string
}

/** `config diff`: exit code 0 for equal, 1 for different. */
export async function diffConfigs(flags: DiffFlags, words: readonly string[]): Promise<CommandResult> {
  const [word, file] = words
  const client = clientOf(flags)
  if (word === undefined) return diffNamespaces(client, flags)
  const name = itemOf(word, flags)
  const [from, to] = await sidesOf(client, { name, file }, flags)
  const isEqual = from.text === to.text
  return {
    code: isEqual ? EXIT.done : EXIT.differs,
    painted: unifiedDiff(from, to),
    json: { ...name, equal: isEqual, from: from.text, to: to.text },
    names: isEqual ? [] : [nameText(name)],
  }
}

async function sidesOf(
  client: SvcClient,
  { name, file }: { readonly name: ItemName; readonly file: string | undefined },
  flags: DiffFlags,
): Promise<readonly [NamedText, NamedText]> {
  if ([file, flags.version, flags.to].filter((one) => one !== undefined).length !== 1)
    throw new UsageError('Say what to compare with: a FILE (- is standard input), --version or --to')
  if (flags.version !== undefined) {
    const old = await versionOf(client, name, flags.version)
    const from = { name: `${nameText(name)} version ${flags.version}`, text: old.content }
    if (flags.with === undefined) return [from, await currentOf(client, name)]
    const newer = await versionOf(client, name, flags.with)
    return [from, { name: `${nameText(name)} version ${flags.with}`, text: newer.content }]
  }
  const from = await currentOf(client, name)
  if (file !== undefined) return [from, { name: file, text: textOf(await bytesOf(file), file) }]
  return [from, await currentOf(clientOf({ ...flags, namespace: flags.to! }), name)]
}

/** The current text of an item; empty for a missing item. */
async function currentOf(client: SvcClient, name: ItemName): Promise<NamedText> {
  const shownName = `${client.namespace || 'public'}: ${nameText(name)}`
  try {
    return { name: shownName, text: (await readItem(client, name)).content }
  } catch (error) {
    if (error instanceof DiffersError) return { name: `${shownName} (absent)`, text: '' }
    throw error
  }
}

/** A line for each item that has gray versions only: nothing is compared. */
function grayOnlyLines({ grayOnlyInFrom, grayOnlyInTo }: Comparison, sides: readonly string[]) {
  return [grayOnlyInFrom, grayOnlyInTo].flatMap((items, side) =>
    items.map(
      (item) => `  ${nameText(item)}: in ${sides[side]} gray versions only (${item.grayNames.join(', ')})`,
    ),
  )
}

async function diffNamespaces(client: SvcClient, { to, group }: DiffFlags): Promise<CommandResult> {
  if (to === undefined) throw new UsageError('Name an item, or a namespace to compare with: --to')
  const from = client.namespace || 'public'
  const found = await client.get<Comparison>('/console/compare', { from, to, group })
  const rows = [
    ...found.onlyInFrom.map((item) => ['-', item] as const),
    ...found.onlyInTo.map((item) => ['+', item] as const),
    ...found.different.map((item) => ['~', item] as const),
  ]
  const lines = [
    ...rows.map(([mark, item]) => painted(`${mark} ${nameText(item)}`, MARKS[mark])),
    ...grayOnlyLines(found, [from, to || 'public']),
  ]
  const more = found.truncated ? ['… and more'] : []
  const sum = `${found.equal} equal, ${rows.length} different (- only in ${from}, + only in ${to}, ~ differs)`
  return {
    code: rows.length === 0 ? EXIT.done : EXIT.differs,
    painted: Painted.lines([...lines, ...more, sum]),
    json: found,
    names: rows.map(([, item]) => nameText(item)),
  }
}

const MARKS = { '-': 'red', '+': 'green', '~': 'yellow' } as const
