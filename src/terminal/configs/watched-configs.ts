import type { ConfigItem, ConfigVersion, GrayItem, GrayVersion, HistoryEntry } from '../answers.ts'
import { DiffersError } from '../../command/command-line.ts'
import { RefusedError } from '../server-session.ts'
import type { SvcClient } from '../session-of-flags.ts'
import { type ItemFlags, type ItemName, itemOf, itemParams, nameText, readItem } from './item.ts'
import { allConfigs } from './read-configs.ts'

/** The author of a change, and why. Both are null where the caller may not read them. */
interface Author {
  readonly user: string | null
  readonly comment: string | null
}

/** A line of `config watch`. */
export interface WatchedChange extends ItemName, Author {
  readonly change: 'published' | 'deleted' | 'gray' | 'gray-stopped' | 'promoted'
  /** Epoch milliseconds; of a deletion or a stop, when this program noticed it. */
  readonly atMs: number
  /** Null where no text is left. */
  readonly md5: string | null
  readonly size: number | null
  /** The gray version that the change is about. */
  readonly grayName?: string
  readonly grayType?: string
  readonly grayMatchRuleExp?: string
}

/** The versions of an item: the formal one, and the gray ones by their names. */
interface Versions {
  readonly md5: string | undefined
  readonly gray: ReadonlyMap<string, GrayVersion>
}

const NOTHING: Versions = { md5: undefined, gray: new Map() }
const NOBODY: Author = { user: null, comment: null }

/** The known state of the watched items, by their names. */
export class WatchedConfigs {
  readonly #client: SvcClient
  readonly #names: ReadonlySet<string>
  readonly #group: string | undefined
  #known: Map<string, Versions> | undefined
  /** Whether a change could not be read. */
  #isStale = false

  constructor(client: SvcClient, flags: ItemFlags, words: readonly string[]) {
    this.#client = client
    this.#names = new Set(words.map((word) => nameText(itemOf(word, flags))))
    this.#group = flags.group?.trim()
  }

  /** The next call compares everything. */
  missed(): void {
    this.#isStale = true
  }

  /** The changes that an event reports; empty for other events and known changes. */
  async changesOf(event: {
    readonly kind: string
    readonly namespaceId?: string
    readonly group?: string
    readonly dataId?: string
  }): Promise<readonly WatchedChange[]> {
    if (this.#isStale) return this.compared()
    const { kind, namespaceId = '', group = '', dataId = '' } = event
    const isHere = (namespaceId === 'public' ? '' : namespaceId) === this.#client.namespace
    if (kind !== 'config' || !isHere || !this.#isWatched({ group, dataId })) return []
    return this.#compare({ group, dataId })
  }

  /** Finds the changes while no events came. The first call only remembers the present items. */
  async compared(): Promise<readonly WatchedChange[]> {
    const found = await this.#present()
    this.#isStale = false
    const before = this.#known
    if (before === undefined) {
      this.#known = found
      return []
    }
    const names = new Set([...before.keys(), ...found.keys()])
    const changes: WatchedChange[] = []
    for (const name of names)
      if (!isEqual(before.get(name), found.get(name)))
        changes.push(...(await this.#compare(itemOf(name, {}))))
    return changes
  }

  async #present(): Promise<Map<string, Versions>> {
    const formal = await allConfigs(this.#client, { text: '', group: this.#group })
    const gray = await grayItems(this.#client, { group: this.#group })
    const found = new Map<string, Versions>()
    for (const item of formal)
      if (this.#isWatched(item)) found.set(nameText(item), { ...NOTHING, md5: item.md5 })
    for (const item of gray) {
      if (!this.#isWatched(item)) continue
      const { md5 } = found.get(nameText(item)) ?? NOTHING
      found.set(nameText(item), { md5, gray: byName(item.versions) })
    }
    return found
  }

  #isWatched(name: ItemName): boolean {
    if (this.#names.size > 0) return this.#names.has(nameText(name))
    return this.#group === undefined || name.group === this.#group
  }

  async #compare(name: ItemName): Promise<readonly WatchedChange[]> {
    const before = this.#known?.get(nameText(name)) ?? NOTHING
    const item = await currentOf(this.#client, name)
    const [versions] = (await grayItems(this.#client, name)).filter((one) => nameText(one) === nameText(name))
    const now: Versions = { md5: item?.md5, gray: byName(versions?.versions ?? []) }
    if (isEqual(before, now)) return []
    const changes = [
      ...(await this.#formalChange(name, before, item)),
      ...(await this.#grayChanges(name, before, now)),
    ]
    // Remembered at the end: a change that could not be read is found again.
    this.#known?.set(nameText(name), now)
    return changes
  }

  async #formalChange(
    name: ItemName,
    before: Versions,
    item: ConfigItem | undefined,
  ): Promise<readonly WatchedChange[]> {
    if (before.md5 === item?.md5) return []
    const author = await authorOf(this.#client, name, item?.md5 ?? null)
    if (item === undefined)
      return [{ change: 'deleted', ...name, atMs: Date.now(), md5: null, size: null, ...author }]
    const { md5, modifyTime: atMs, content } = item
    return [{ change: 'published', ...name, atMs, md5, size: Buffer.byteLength(content), ...author }]
  }

  async #grayChanges(name: ItemName, before: Versions, now: Versions): Promise<readonly WatchedChange[]> {
    const changes: WatchedChange[] = []
    for (const version of now.gray.values())
      if (!isSame(before.gray.get(version.grayName), version)) changes.push(grayChange(name, version))
    for (const version of before.gray.values())
      if (!now.gray.has(version.grayName)) changes.push(await this.#endOf(name, version, { before, now }))
    return changes
  }

  /** A version that has ended: its text is the formal one now, or it was stopped. */
  async #endOf(
    name: ItemName,
    version: GrayVersion,
    { before, now }: { before: Versions; now: Versions },
  ): Promise<WatchedChange> {
    const isPromoted = now.md5 !== before.md5 && now.md5 === version.md5
    const author = isPromoted
      ? await authorOf(this.#client, name, version.md5)
      : await stopperOf(this.#client, name, version.grayName)
    const change = isPromoted ? 'promoted' : 'gray-stopped'
    return { ...grayChange(name, version), change, atMs: Date.now(), ...author }
  }
}

function grayChange(name: ItemName, version: GrayVersion): WatchedChange {
  const { grayName, grayType, grayMatchRuleExp, modifyTime: atMs, md5, size, modifyUser, modifyIp } = version
  const author = { user: modifyUser ?? modifyIp, comment: version.comment }
  return { change: 'gray', ...name, atMs, md5, size, grayName, grayType, grayMatchRuleExp, ...author }
}

function byName(versions: readonly GrayVersion[]): ReadonlyMap<string, GrayVersion> {
  return new Map(versions.map((version) => [version.grayName, version]))
}

function isSame(one: GrayVersion | undefined, other: GrayVersion): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other)
}

function isEqual(one: Versions = NOTHING, other: Versions = NOTHING): boolean {
  return (
    one.md5 === other.md5 &&
    one.gray.size === other.gray.size &&
    [...other.gray.values()].every((version) => isSame(one.gray.get(version.grayName), version))
  )
}

function grayItems(
  client: SvcClient,
  name: { readonly [field in keyof ItemName]?: string | undefined },
): Promise<readonly GrayItem[]> {
  return client.all<GrayItem>('/cs/configs/gray', { namespaceId: client.namespace, ...name })
}

async function currentOf(client: SvcClient, name: ItemName): Promise<ConfigItem | undefined> {
  try {
    return await readItem(client, name)
  } catch (error) {
    if (error instanceof DiffersError) return undefined
    throw error
  }
}

/** The author of the newest version, if that has this md5. */
async function authorOf(client: SvcClient, name: ItemName, md5: string | null): Promise<Author> {
  const params = { ...itemParams(client, name), pageNo: 1, pageSize: 1 }
  const page = client.get<{ pageItems: readonly ConfigVersion[] }>('/console/config/versions', params)
  const [newest] = (await unlessRefused(page, { pageItems: [] })).pageItems
  return newest?.md5 === md5 ? { user: newest.user ?? newest.ip, comment: newest.comment } : NOBODY
}

/** The author of the end of a gray version, by its newest record. */
async function stopperOf(client: SvcClient, name: ItemName, grayName: string): Promise<Author> {
  const params = { ...itemParams(client, name), search: 'accurate', pageNo: 1, pageSize: 100 }
  const page = client.get<{ pageItems: readonly HistoryEntry[] }>('/cs/history', params)
  const { pageItems } = await unlessRefused(page, { pageItems: [] })
  const end = pageItems.find((entry) => entry.grayName === grayName && entry.opType === 'D ')
  return end === undefined ? NOBODY : { user: end.srcUser ?? end.srcIp, comment: null }
}

/** The other value where the thing is absent, or where the user may not read it. */
async function unlessRefused<T, O>(answer: Promise<T>, other: O): Promise<T | O> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof DiffersError || error instanceof RefusedError) return other
    throw error
  }
}
