import { hash } from 'node:crypto'
import { namesOf, NO_NAMES } from '../../core/audit/audited-item.ts'
import { type ConfigItem, configKey, type ConfigKey } from '../../core/config/state/config-item.ts'
import { publishConfig } from '../../core/config/commands/publish-config.ts'
import { type ConfigSearch, matchingConfigs } from '../../core/config/state/search-configs.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { PUBLIC_NAMESPACE, NAMESPACE } from '../../core/namespaces/namespace.ts'
import { Refusal } from '../../core/refusal.ts'
import type { StoreRoom } from '../../core/engine/store-room.ts'
import type { State } from '../../core/engine/state.ts'
import { type ExportedItems, grayLeftOut } from './gray-left-out.ts'
import { configResource, itemsOfIds, operatorOf, READ_CONFIG, WRITE_CONFIG } from './configs.ts'
import type { ClientViews } from '../client-views.ts'
import { lookAhead } from './look-ahead.ts'
import type { Guard, Resource } from '../guard.ts'
import type { Touch, Caller } from '../authorisation.ts'
import {
  importConfigs,
  type ImportItem,
  type ImportOptions,
  type ImportOutcome,
  type ImportParts,
} from './import-configs.ts'
import { type AuditedOutcome, NEVER_RECORDED } from '../operation-audit.ts'

interface TransferParts {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'configs' | 'gray' | 'record' | 'records'>
  readonly engine: Pick<Engine, 'execute'>
  /** An import is refused as a whole where the store has no room. */
  readonly room: Pick<StoreRoom, 'require'>
  readonly views: Pick<ClientViews, 'clientCounts'>
}

/** The items of these ids that belong to the namespace. */
export interface IdsRequest {
  readonly namespaceId: string
  readonly ids: readonly number[]
}

/** Items to publish, e.g. of an archive. */
export interface ImportRequest extends ImportOptions {
  readonly items: readonly ImportItem[]
  readonly srcUser: string | undefined
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
}

/** An item to copy. An undefined `dataId` or `group` stays as in the original. */
export interface Selected {
  readonly id: number
  readonly dataId: string | undefined
  readonly group: string | undefined
  /** The md5 of the item that the copy replaces (`''`: no item); undefined: as the policy says. */
  readonly casMd5: string | undefined
  /** The md5 of the original that was seen: another one is not copied; undefined: whatever it is. */
  readonly fromMd5: string | undefined
}

/** Items to copy into a namespace. */
export interface CloneRequest extends ImportOptions {
  readonly namespaceId: string
  readonly selected: readonly Selected[]
  readonly srcUser: string | undefined
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
}

/** The outcome of a clone; only a listed namespace takes copies. */
export type Cloned = OriginalsLeft &
  (
    | { readonly kind: 'nothing-selected' | 'unknown-namespace' | 'nothing-found' }
    | { readonly kind: 'done'; readonly outcome: ImportOutcome }
  )

/** Originals of which there is no copy: ids of no item, and items that the caller may not read. */
interface OriginalsLeft {
  readonly unknown: readonly number[]
  readonly forbidden: readonly ConfigItem[]
}

/** The ids without a copy. They are together: the caller must not learn whether an id is one of an item. */
export function idsWithoutCopy({ unknown, forbidden }: Cloned): number[] {
  return [...unknown, ...forbidden.map(({ origin }) => origin.id)].toSorted((a, b) => a - b)
}

/** Makes the operations of export, import and clone. */
export function transferOperations(parts: TransferParts) {
  return { ...exportOperations(parts), ...importOperations(parts) }
}

function exportOperations({ guard, state }: TransferParts) {
  return {
    /** The items that match. */
    exportMatching: guard.listing({
      permission: READ_CONFIG,
      scope: someOf,
      find: (search: ConfigSearch) => matchingConfigs(state.configs, search),
      resource: ({ key }) => configResource(key),
      run: (items) => items,
    }),
    /** The items of these ids, without items of other namespaces or items that the caller may not read. */
    exportByIds: guard.finding({
      permission: READ_CONFIG,
      scope: someOf,
      find: ({ namespaceId, ids }: IdsRequest) =>
        itemsOfIds(state, ids).filter(({ key }) => key.namespaceId === namespaceId),
      leaveOut: (items, mayTouch) => items.filter((item) => mayTouch(readOf(item))),
      touches: (items) => items.map(readOf),
      run: (items) => items,
    }),
    /** How many gray versions such an export leaves out, of items that the caller may read. */
    grayLeftOut: guard.listing({
      permission: READ_CONFIG,
      scope: ({ search }: ExportedItems) => someOf(search),
      find: (exported) => grayLeftOut(state, exported),
      resource: ({ key }) => configResource(key),
      run: (items) => items.reduce((count, { versions }) => count + versions.length, 0),
    }),
  }
}

function importOperations(parts: TransferParts) {
  const { guard, state } = parts
  return {
    /** Whether items can be imported into a namespace: it must be on the list, or the default one. */
    takesImports: guard.operation({
      permission: WRITE_CONFIG,
      audit: { operation: 'check import', isRecorded: NEVER_RECORDED },
      resources: (request: { namespaceId: string }) => [someOf(request)],
      run: ({ namespaceId }) => isListed(state, namespaceId),
    }),
    /** Publishes items. */
    import: guard.operation({
      permission: WRITE_CONFIG,
      resources: ({ items }: ImportRequest) => items.map(({ key }) => configResource(key)),
      run: (request, caller) => importAll(parts, request, caller),
      audit: {
        operation: 'import configs',
        isRecorded: changesAnything,
        cameTo: (outcome) => auditedImport(outcome),
      },
    }),
    /** Copies the items that the caller may read. Refusal `invalid-parameter` if two copies get one name. */
    clone: guard.finding({
      permission: WRITE_CONFIG,
      scope: someOf,
      find: ({ selected, namespaceId }: CloneRequest): FoundCopies => ({
        copies: selected.flatMap((one) => copyOf(state, one, namespaceId)),
        unknown: selected.flatMap(({ id }) => (state.configs.getById(id) === undefined ? [id] : [])),
        forbidden: [],
      }),
      leaveOut: ({ copies, unknown }, mayTouch) => {
        const allowed = new Set(copies.filter(({ source }) => mayTouch(readOf(source))))
        const others = copies.filter((copy) => !allowed.has(copy))
        return { copies: [...allowed], unknown, forbidden: others.map(({ source }) => source) }
      },
      touches: ({ copies }) => copies.flatMap(touchesOfCopy),
      run: async ({ copies, ...left }, request, caller): Promise<Cloned> => {
        if (request.selected.length === 0) return { kind: 'nothing-selected', ...left }
        if (!isListed(state, request.namespaceId)) return { kind: 'unknown-namespace', ...left }
        if (copies.length === 0) return { kind: 'nothing-found', ...left }
        refuseEqualNames(copies)
        const items = copies.map(importItemOf)
        return { kind: 'done', outcome: await importAll(parts, { ...request, items }, caller), ...left }
      },
      audit: { operation: 'clone configs', isRecorded: changesAnything, cameTo: auditedClone },
    }),
  }
}

function someOf({ namespaceId }: { namespaceId: string }): Resource {
  return { kind: 'some-configs', namespaceId }
}

/** The default namespace always exists. */
function isListed(state: Pick<State, 'record'>, namespaceId: string): boolean {
  return namespaceId === PUBLIC_NAMESPACE || state.record(NAMESPACE, namespaceId) !== undefined
}

async function importAll(
  { guard, state, engine, room, views }: TransferParts,
  { items, policy, dryRun, seenState, srcUser, comment }: ImportRequest,
  caller: Caller,
): Promise<ImportOutcome> {
  const operator = operatorOf(caller, srcUser)
  if (!dryRun) room.require(0)
  const publish: ImportParts['publish'] = async ({ key, type, typeIfNew, notes }, content, casMd5) => {
    const md5 = hash('md5', content, 'hex')
    const command = publishConfig({ key, content, md5, type, typeIfNew, notes, casMd5, operator, comment })
    return engine.execute(command)
  }
  const outcome = await importConfigs({ state, publish }, items, { policy, dryRun, seenState })
  if (!dryRun) return outcome
  const isShown = (key: ConfigKey): boolean => guard.shows(caller, 'read', configResource(key))
  return { ...outcome, ahead: await lookAhead({ state, views, isShown }, items, outcome.published) }
}

function changesAnything({ dryRun }: ImportOptions): boolean {
  return !dryRun
}

/** A batch that stopped is refused, also where some of it was published. `originals`: the ones without a copy. */
function auditedImport(
  { published, skipped, failed, stoppedBy }: ImportOutcome,
  originals: readonly (Resource | string)[] = [],
): AuditedOutcome {
  const counts = `published ${published.length}, skipped ${skipped.length}, failed ${failed.length}`
  const detail = originals.length === 0 ? counts : `${counts}, not copied ${originals.length}`
  const left = [...originals, ...[...failed, ...skipped].map(configResource)]
  const names = { changed: namesOf(published, configResource), left: namesOf(left, (one) => one) }
  if (failed.length === 0) return { result: 'done', detail, names }
  return { result: 'refused', code: stoppedBy?.code ?? '', detail, names }
}

/** The audit tells unknown ids and forbidden originals apart; the answer does not. */
function auditedClone(cloned: Cloned): AuditedOutcome {
  const { unknown, forbidden } = cloned
  const originals = [...forbidden.map(({ key }) => configResource(key)), ...unknown.map((id) => `id ${id}`)]
  if (cloned.kind === 'done') return auditedImport(cloned.outcome, originals)
  const refused: AuditedOutcome = { result: 'refused', code: cloned.kind }
  if (cloned.kind !== 'nothing-found') return refused
  return { ...refused, names: { changed: NO_NAMES, left: namesOf(originals, (one) => one) } }
}

/** The copies to make, and the originals of which none is made. */
interface FoundCopies extends OriginalsLeft {
  readonly copies: readonly Copy[]
}

interface Copy {
  readonly source: ConfigItem
  /** Whether the original is not the one that was seen. */
  readonly isOutdated: boolean
  readonly casMd5: string | undefined
  readonly key: ConfigKey
}

/** The copy of one item; empty if no item has the id. */
function copyOf({ configs }: TransferParts['state'], selected: Selected, namespaceId: string): Copy[] {
  const source = configs.getById(selected.id)
  if (source === undefined) return []
  const { dataId = source.key.dataId, group = source.key.group, casMd5, fromMd5 = source.md5 } = selected
  const key = configKey(namespaceId, group, dataId)
  return [{ source, casMd5, key, isOutdated: fromMd5 !== source.md5 }]
}

function readOf({ key }: ConfigItem): Touch {
  return { action: 'read', resource: configResource(key) }
}

/** A copy shows its source to everybody who may read the target. */
function touchesOfCopy({ source, key }: Copy): Touch[] {
  return [readOf(source), { action: 'write', resource: configResource(key) }]
}

function importItemOf({ source, key, casMd5, isOutdated }: Copy): ImportItem {
  const { content, type, notes, md5 } = source
  const read = () => Promise.resolve(content)
  return { key, type, notes, casMd5, isOutdated, sourceMd5: md5, bytes: content.length, read }
}

function refuseEqualNames(copies: readonly Copy[]): void {
  const seen = new Set<string>()
  for (const { key } of copies) {
    if (seen.has(key.text)) {
      const allowed = 'a name for each item that no other has'
      const message = `Two items would get the name ${key.group}/${key.dataId}; ${allowed}.`
      throw new Refusal('invalid-parameter', message, { allowed })
    }
    seen.add(key.text)
  }
}
