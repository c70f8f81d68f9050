import { refuseDamaged } from '../../core/config/state/damaged-item.ts'
import { hash } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import type { ConfigItem, ConfigKey, ConfigType, Operator } from '../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../core/config/state/config-notes.ts'
import { deleteConfig, publishConfig } from '../../core/config/commands/publish-config.ts'
import { type SeenItem, viewOf } from '../../core/config/state/config-view.ts'
import type { Viewer } from '../../core/config/state/viewer.ts'
import { type ConfigSearch, matchingConfigs } from '../../core/config/state/search-configs.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard, Resource } from '../guard.ts'
import type { Caller } from '../authorisation.ts'
import { cutPage, pageOf, type PageRequest } from '../page.ts'

interface ConfigParts {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'configs' | 'record'>
  readonly engine: Pick<Engine, 'execute'>
}

/** An item, and the client that asks for it. */
export interface ViewRequest {
  readonly key: ConfigKey
  readonly who: Viewer
}

/** The request of a publisher. `content` must own its memory: it is kept as long as the item lives. */
export interface PublishRequest {
  readonly key: ConfigKey
  readonly content: Buffer
  /** Undefined keeps the type of an item that exists. */
  readonly type: ConfigType | undefined
  /** The type of a new item without one; absent: `text`. */
  readonly typeIfNew?: ConfigType | undefined
  /** A note that is absent stays as it is. */
  readonly notes: Partial<ConfigNotes>
  /** Publish only if this is the md5 of the current content (`''`: no item); undefined: whatever it is. */
  readonly casMd5: string | undefined
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
  /** The publisher's own name, as it claims. */
  readonly srcUser: string | undefined
}

/** The item to delete, and who says so. */
export interface RemoveRequest {
  readonly key: ConfigKey
  /** Delete only if this is the md5 of the current content; absent: whatever it is. */
  readonly casMd5?: string | undefined
  /** Whether the gray versions stay: the formal version alone is deleted. */
  readonly keepsGray?: boolean | undefined
  readonly comment?: string | undefined
  readonly srcUser?: string | undefined
}

/** A page of the items that match. */
export interface FoundConfigs {
  readonly page: PageRequest
  readonly totalCount: number
  readonly items: readonly ConfigItem[]
}

/** The permissions of operations on configurations. */
export const READ_CONFIG = { action: 'read', resource: 'config' } as const
export const WRITE_CONFIG = { action: 'write', resource: 'config' } as const

/** Makes the operations on configurations. */
export function configOperations(parts: ConfigParts) {
  return { ...readOperations(parts), ...publishOperation(parts), ...removeOperation(parts) }
}

function readOperations({ guard, state }: ConfigParts) {
  return {
    /** The version that a client sees, formal or gray; undefined if it sees none. Refusal `damaged`. */
    view: guard.operation({
      permission: READ_CONFIG,
      resources: ({ key }: ViewRequest) => [configResource(key)],
      run: ({ key, who }): SeenItem | undefined => {
        refuseDamaged(state, key)
        return viewOf(state, key, who)
      },
    }),
    /** The formal version of an item, or Refusals `config-not-found` and `damaged`. */
    read: guard.operation({
      permission: READ_CONFIG,
      resources: (key: ConfigKey) => [configResource(key)],
      run: (key) => {
        refuseDamaged(state, key)
        const item = state.config(key)
        if (item === undefined) throw configNotFound(key)
        return item
      },
    }),
    /** A page of the items that match, oldest first. Refusal `too-large` where their contents weigh too much. */
    search: guard.listing({
      permission: READ_CONFIG,
      scope: ({ search }: { search: ConfigSearch; page: PageRequest }): Resource => ({
        kind: 'some-configs',
        namespaceId: search.namespaceId,
      }),
      find: ({ search }) => matchingConfigs(state.configs, search),
      resource: ({ key }) => configResource(key),
      run: (matching, { page }): FoundConfigs => {
        const cut = cutPage(page)
        const items = pageOf(matching, cut)
        refuseHeavyPage(items)
        return { page: cut, totalCount: matching.length, items }
      },
    }),
  }
}

function publishOperation({ guard, engine }: ConfigParts) {
  return {
    /** Publishes. Refusals `config-changed`, `content-memory`. */
    publish: guard.operation({
      permission: WRITE_CONFIG,
      audit: { operation: 'publish config' },
      resources: ({ key }: PublishRequest) => [configResource(key)],
      run: ({ key, content, type, typeIfNew, notes, casMd5, comment, srcUser }, caller) => {
        const md5 = hash('md5', content, 'hex')
        const operator = operatorOf(caller, srcUser)
        // Field by field: a rest and a spread cost 5 µs (decision 0027).
        return engine.execute(
          publishConfig({ key, content, md5, type, typeIfNew, notes, casMd5, operator, comment }),
        )
      },
    }),
  }
}

function removeOperation({ guard, engine }: ConfigParts) {
  return {
    /** Deletes an item; true also if it did not exist. Refusal `config-changed`. */
    remove: guard.operation({
      permission: WRITE_CONFIG,
      audit: { operation: 'delete config' },
      resources: ({ key }: RemoveRequest) => [configResource(key)],
      run: ({ key, srcUser, ...options }, caller) =>
        engine.execute(deleteConfig(key, operatorOf(caller, srcUser), options)),
    }),
  }
}

/** A Refusal `config-not-found` that names the item. */
export function configNotFound({ dataId, group, namespaceId }: ConfigKey): Refusal {
  const message = `There is no configuration ${dataId} in group ${group} of namespace ${namespaceId}.`
  return new Refusal('config-not-found', message, { names: { dataId, group, namespaceId } })
}

/** An item as permissions name it. */
export function configResource(key: ConfigKey): Resource {
  return { kind: 'config', key }
}

/**
 * The operator of a history record: the caller's address, and its user. The user that a caller claims to act
 * for counts only where nobody has to sign in.
 */
export function operatorOf({ ip, identity }: Caller, srcUser: string | undefined): Operator {
  switch (identity.kind) {
    case 'user':
      return { ip, user: identity.username }
    case 'anonymous':
      return { ip, user: srcUser ?? null }
    case 'not-signed-in':
      return { ip, user: null }
  }
}

/** The items of these ids, each once, in the order of the ids. */
export function itemsOfIds({ configs }: Pick<State, 'configs'>, ids: readonly number[]): ConfigItem[] {
  return [...new Set(ids)].flatMap((id) => configs.getById(id) ?? [])
}

/** The share of the heap for the contents and schemas of a page: several pages are made at once, each from several copies. */
const SHARE_OF_PAGE = 1 / 64

/** The most bytes of all contents and schemas of a page. */
export const MAX_PAGE_BYTES = Math.min(
  64 * 1024 * 1024,
  Math.floor(SHARE_OF_PAGE * getHeapStatistics().heap_size_limit),
)

/** Throws Refusal `too-large` for a page of several items that is too heavy. */
function refuseHeavyPage(items: readonly ConfigItem[]): void {
  const bytes = items.reduce(
    (sum, { content, notes }) => sum + content.length + 2 * (notes.schema?.length ?? 0),
    0,
  )
  if (bytes <= MAX_PAGE_BYTES || items.length === 1) return
  const allowed = `a page whose contents and schemas have at most ${MAX_PAGE_BYTES} bytes in all`
  const message = `pageSize must give ${allowed}, but these have ${bytes}: ask for a smaller page.`
  throw new Refusal('too-large', message, { parameter: 'pageSize', allowed })
}
