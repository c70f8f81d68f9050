import type { ConfigItem } from '../answers.ts'
import { type CommandResult, DiffersError, EXIT, timeText } from '../../command-line.ts'
import { type Part, painted } from '../../terminal-text.ts'
import { liveMessages, printLine, sayWatching, untilInterrupted, type WatchFlags } from '../live-events.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { type ItemFlags, type ItemName, itemOf, nameText, readItem } from './item.ts'
import { allConfigs } from './read-configs.ts'

/** A line of `config watch`. */
interface WatchedChange extends ItemName {
  readonly change: 'published' | 'deleted'
  /** Epoch milliseconds; of a deletion, when this program noticed it. */
  readonly atMs: number
  readonly md5: string | null
  readonly size: number | null
}

/** `config watch`: prints changes as they come, until it is interrupted; with `--once`, until the first change. */
export function watchConfigs(
  flags: ItemFlags & WatchFlags,
  words: readonly string[],
): Promise<CommandResult> {
  return untilInterrupted(() => watch(flags, words))
}

async function watch(flags: ItemFlags & WatchFlags, words: readonly string[]): Promise<CommandResult> {
  const client = clientOf(flags)
  const watched = new WatchedConfigs(client, flags, words)
  for await (const message of liveMessages(client)) {
    const changes =
      message.kind === 'changed' ? await watched.changeOf(message.event) : await watched.compared()
    if (message.kind === 'begun') sayWatching(client)
    for (const change of changes) {
      await printLine(change, lineOf(change), flags)
      if (flags.once === true) return { code: EXIT.done, text: '' }
    }
  }
  return { code: EXIT.done }
}

function lineOf({ change, atMs, group, dataId, md5, size }: WatchedChange): readonly Part[] {
  const paint = change === 'published' ? 'green' : 'red'
  const about = md5 === null ? [] : [md5, `${size} bytes`]
  return [timeText(atMs), painted(change, paint), nameText({ group, dataId }), ...about]
}

/** The known state of the watched items, by their names. */
class WatchedConfigs {
  readonly #client: SvcClient
  readonly #names: ReadonlySet<string>
  readonly #group: string | undefined
  #md5s: Map<string, string> | undefined

  constructor(client: SvcClient, flags: ItemFlags, words: readonly string[]) {
    this.#client = client
    this.#names = new Set(words.map((word) => nameText(itemOf(word, flags))))
    this.#group = flags.group
  }

  /** The change that an event reports; empty for other events and known changes. */
  async changeOf(event: {
    readonly kind: string
    readonly namespaceId?: string
    readonly group?: string
    readonly dataId?: string
  }): Promise<readonly WatchedChange[]> {
    const { kind, namespaceId = '', group = '', dataId = '' } = event
    const isHere = (namespaceId === 'public' ? '' : namespaceId) === this.#client.namespace
    if (kind !== 'config' || !isHere || !this.#isWatched({ group, dataId })) return []
    return this.#compare({ group, dataId })
  }

  /** Finds the changes while no events came. The first call only remembers the present items. */
  async compared(): Promise<readonly WatchedChange[]> {
    const items = await allConfigs(this.#client, { text: '', group: this.#group })
    const found = new Map(
      items.filter((item) => this.#isWatched(item)).map((item) => [nameText(item), item.md5]),
    )
    const before = this.#md5s
    if (before === undefined) {
      this.#md5s = found
      return []
    }
    const names = new Set([...before.keys(), ...found.keys()])
    const changes: WatchedChange[] = []
    for (const name of names)
      if (before.get(name) !== found.get(name)) changes.push(...(await this.#compare(itemOf(name, {}))))
    return changes
  }

  #isWatched(name: ItemName): boolean {
    if (this.#names.size > 0) return this.#names.has(nameText(name))
    return this.#group === undefined || name.group === this.#group
  }

  async #compare(name: ItemName): Promise<readonly WatchedChange[]> {
    const known = this.#md5s?.get(nameText(name))
    const item = await currentOf(this.#client, name)
    if (known === item?.md5) return []
    if (item === undefined) {
      this.#md5s?.delete(nameText(name))
      return [{ change: 'deleted', ...name, atMs: Date.now(), md5: null, size: null }]
    }
    this.#md5s?.set(nameText(name), item.md5)
    const { md5, modifyTime: atMs, content } = item
    return [{ change: 'published', ...name, atMs, md5, size: Buffer.byteLength(content) }]
  }
}

async function currentOf(client: SvcClient, name: ItemName): Promise<ConfigItem | undefined> {
  try {
    return await readItem(client, name)
  } catch (error) {
    if (error instanceof DiffersError) return undefined
    throw error
  }
}
