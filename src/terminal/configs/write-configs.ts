import { type CommandResult, DiffersError, UsageError, done } from '../../command/command-line.ts'
import { confirmed } from '../confirmation.ts'
import { clientOf, DamagedError, type SvcClient } from '../session-of-flags.ts'
import { FormerListeners, watchersOf } from './listeners.ts'
import { type ForceFlags, requireReadable } from './readable-text.ts'
import {
  blanksText,
  bytesOf,
  type ItemFlags,
  type ItemName,
  itemOf,
  itemParams,
  md5Of,
  nameText,
  readItem,
  textOf,
} from './item.ts'

/** The flags of a change of an item besides the content. */
interface ChangeFlags extends ItemFlags {
  readonly casMd5?: string
  readonly comment?: string
}

/** The flags of `config put`. */
export interface PutFlags extends ChangeFlags, ForceFlags {
  readonly create?: boolean
  readonly type?: string
  readonly desc?: string
  readonly app?: string
  readonly tags?: string
  readonly wait?: boolean
  /** The time limit of --wait, seconds. */
  readonly timeout: string
}

/** `config put`: publishes the bytes of a file. */
export async function putConfig(flags: PutFlags, word: string, file: string): Promise<CommandResult> {
  if (flags.create === true && flags.casMd5 !== undefined)
    throw new UsageError('--create and --cas-md5 exclude each other')
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const timeoutMs = 1_000 * secondsOf(flags.timeout)
  const content = textOf(await bytesOf(file), file)
  await requireReadable(client, { name, content, type: flags.type }, flags)
  const listeners = flags.wait === true ? await FormerListeners.of(client, name) : undefined
  await client.send('POST', '/cs/configs', {
    ...itemParams(client, name),
    content,
    type: flags.type,
    desc: flags.desc,
    appName: flags.app,
    config_tags: flags.tags,
    comment: flags.comment,
    casMd5: flags.create === true ? '' : flags.casMd5,
  })
  const has = listeners === undefined ? '' : ` ${await listeners.haveIt(timeoutMs)}`
  return changed(client, `${nameText(name)} is published.${blanksText(word, flags)}${has}`, {
    ...name,
    md5: md5Of(content),
  })
}

const MOST_SECONDS = 86_400

function secondsOf(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds >= 1 && seconds <= MOST_SECONDS))
    throw new UsageError(`--timeout must be a number of seconds from 1 to ${MOST_SECONDS}`)
  return seconds
}

/** The flags of `config delete`. */
export interface DeleteFlags extends ChangeFlags {
  readonly yes?: boolean
}

/** `config delete`: asks on a terminal, and says who listens and how an item comes back. */
export async function deleteConfig(flags: DeleteFlags, words: readonly string[]): Promise<CommandResult> {
  const client = clientOf(flags)
  const names = words.map((word) => itemOf(word, flags))
  if (flags.casMd5 !== undefined && names.length > 1)
    throw new UsageError('--cas-md5 is about one item: name one')
  if (process.stdin.isTTY && !(await confirmed(await questionOf(client, names), flags)))
    throw new UsageError('Nothing was deleted.')
  const lines: string[] = []
  for (const name of names) {
    await client.send('DELETE', '/cs/configs', {
      ...itemParams(client, name),
      casMd5: flags.casMd5 ?? (await deletedMd5(client, name)),
      comment: flags.comment,
    })
    lines.push(`${nameText(name)} is deleted.${await wayBack(client, name)}`)
  }
  return changed(client, lines.join('\n'), { deleted: names })
}

async function questionOf(client: SvcClient, names: readonly ItemName[]): Promise<string> {
  const found = await Promise.all(names.map((name) => watchersOf(client, name)))
  const lines = names.map((name, at) => {
    const { count } = found[at]!
    const listening = count === 1 ? '1 client listens' : `${count === 0 ? 'no' : count} clients listen`
    return `${nameText(name)}: ${listening}.`
  })
  return `${lines.join('\n')}\nDelete ${names.length === 1 ? 'it' : `these ${names.length} items`}?`
}

/** A deleted item, which may have had gray versions only. */
interface DeletedItem extends ItemName {
  readonly historyId: string
}

/** The command that brings a deleted item back; empty if the caller may not read it. */
async function wayBack(client: SvcClient, name: ItemName): Promise<string> {
  const params = { namespaceId: client.namespace || 'public', pageNo: 1, pageSize: LAST_DELETED }
  const page = await client
    .get<{ readonly pageItems: readonly DeletedItem[] }>('/console/bin', params)
    // The item is deleted all the same.
    .catch(() => undefined)
  const newest = page?.pageItems.find((one) => nameText(one) === nameText(name))
  if (newest === undefined) return ''
  const namespace = client.namespace === '' ? '' : ` -n ${client.namespace}`
  return ` This brings it back: waypost config restore ${nameText(name)} ${newest.historyId}${namespace}`
}

/** The last deletions are looked through: others may delete at the same time. */
const LAST_DELETED = 100

/** The md5 of the deleted item; empty if it has gray versions only, undefined if it is damaged. Rejects if there is none. */
async function deletedMd5(client: SvcClient, name: ItemName): Promise<string | undefined> {
  try {
    return (await readItem(client, name)).md5
  } catch (error) {
    if (error instanceof DamagedError) return undefined
    const gray = await client.get<object[]>('/cs/configs/gray', { namespaceId: client.namespace, ...name })
    if (gray.length > 0) return ''
    throw error
  }
}

/** `config restore`: publishes the text of a version once more. */
export async function restoreConfig(flags: ChangeFlags, words: readonly string[]): Promise<CommandResult> {
  const [word, historyId] = words
  const client = clientOf(flags)
  const name = itemOf(word!, flags)
  const casMd5 = flags.casMd5 ?? (await currentMd5(client, name))
  const { comment } = flags
  await client.send('POST', '/console/config/restore', {
    ...itemParams(client, name),
    historyId,
    casMd5,
    comment,
  })
  return changed(client, `${nameText(name)} has the text of version ${historyId} again.`, {
    ...name,
    historyId,
  })
}

/** The md5 of the current content; empty without an item, as casMd5 expects. */
async function currentMd5(client: SvcClient, name: ItemName): Promise<string> {
  try {
    return (await readItem(client, name)).md5
  } catch (error) {
    if (error instanceof DiffersError) return ''
    throw error
  }
}

function changed(client: SvcClient, text: string, fields: object): CommandResult {
  return done(text, { namespaceId: client.namespace || 'public', ...fields })
}
