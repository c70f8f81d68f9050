import type { ConfigItem, Operator } from '../../core/config/state/config-item.ts'
import { deleteConfig } from '../../core/config/commands/publish-config.ts'
import { namesOf } from '../../core/audit/audited-item.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard, Resource } from '../guard.ts'
import type { Touch } from '../authorisation.ts'
import type { AuditedOutcome } from '../operation-audit.ts'
import { configResource, itemsOfIds, operatorOf, WRITE_CONFIG } from './configs.ts'

interface RemovalParts {
  readonly guard: Guard
  readonly state: Pick<State, 'configs'>
  readonly engine: Pick<Engine, 'execute'>
}

/** Which items to delete, and who says so. */
interface RemovalRequest {
  readonly ids: readonly number[]
  readonly srcUser?: string | undefined
}

/** The items of some ids; `forbidden`: the ones that the caller may not delete. */
interface ItemsOfIds {
  readonly items: readonly ConfigItem[]
  readonly unknown: readonly number[]
  readonly forbidden: readonly ConfigItem[]
}

/** The outcome of a deletion by ids. */
export interface Removal extends Omit<ItemsOfIds, 'items'> {
  readonly removed: readonly ConfigItem[]
  /** Items that others have deleted at the same time. */
  readonly gone: readonly ConfigItem[]
  /** Items that the store or the server did not delete, because of `stoppedBy`. */
  readonly failed: readonly ConfigItem[]
  readonly stoppedBy: Refusal | undefined
}

/** Makes the operation that deletes several items. */
export function removalOperations({ guard, state, engine }: RemovalParts) {
  return {
    /**
     * Deletes the items of these ids, of any namespace. Leaves unknown ids, and items that the caller may not delete. Throws
     * `stoppedBy` where nothing was deleted.
     */
    byIds: guard.finding({
      permission: WRITE_CONFIG,
      audit: { operation: 'delete configs', cameTo: auditedRemoval },
      scope: (): Resource => ({ kind: 'some-configs', namespaceId: undefined }),
      find: ({ ids }: RemovalRequest): ItemsOfIds => {
        const items = itemsOfIds(state, ids)
        const known = new Set(items.map(idOf))
        return { items, unknown: [...new Set(ids)].filter((id) => !known.has(id)), forbidden: [] }
      },
      leaveOut: ({ items, unknown }, mayTouch) => {
        const allowed = new Set(items.filter((item) => mayTouch(writeOf(item))))
        return { items: [...allowed], unknown, forbidden: items.filter((item) => !allowed.has(item)) }
      },
      touches: ({ items }) => items.map(writeOf),
      run: async ({ items, ...left }, { srcUser }, caller): Promise<Removal> => {
        return { ...left, ...(await removed(engine, items, operatorOf(caller, srcUser))) }
      },
    }),
  }
}

const idOf = ({ origin }: ConfigItem): number => origin.id

/**
 * The ids that were left as they are. Unknown ids and forbidden items are together: the caller must not learn whether an id is
 * one of an item.
 */
export function idsLeft({ unknown, forbidden, gone, failed }: Removal): number[] {
  return [...unknown, ...[...forbidden, ...gone, ...failed].map(idOf)].toSorted((a, b) => a - b)
}

async function removed(
  engine: RemovalParts['engine'],
  items: readonly ConfigItem[],
  operator: Operator,
): Promise<Omit<Removal, keyof ItemsOfIds>> {
  // The store writes them together.
  const outcomes = await Promise.allSettled(
    items.map(async ({ key, origin }) => engine.execute(deleteConfig(key, operator, { id: origin.id }))),
  )
  const sorted = { removed: [] as ConfigItem[], gone: [] as ConfigItem[], failed: [] as ConfigItem[] }
  let stoppedBy: Refusal | undefined
  for (const [index, outcome] of outcomes.entries()) {
    const refusal = outcome.status === 'rejected' ? refusalOf(outcome.reason) : undefined
    const fate = fateOf(refusal)
    if (fate === 'failed') stoppedBy ??= refusal
    sorted[fate].push(items[index]!)
  }
  if (stoppedBy !== undefined && sorted.removed.length === 0) throw stoppedBy
  return { ...sorted, stoppedBy }
}

function fateOf(refusal: Refusal | undefined): 'removed' | 'gone' | 'failed' {
  if (refusal === undefined) return 'removed'
  return refusal.code === 'config-changed' ? 'gone' : 'failed'
}

function refusalOf(reason: unknown): Refusal {
  if (reason instanceof Refusal) return reason
  throw reason
}

function writeOf({ key }: ConfigItem): Touch {
  return { action: 'write', resource: configResource(key) }
}

/** How the audit names an item, or an id of no item. */
function nameOf(one: ConfigItem | number): Resource | string {
  return typeof one === 'number' ? `id ${one}` : configResource(one.key)
}

/** The audit tells unknown ids and forbidden items apart; the answer does not. */
function auditedRemoval({ removed, gone, failed, unknown, forbidden, stoppedBy }: Removal): AuditedOutcome {
  const left = [...failed, ...gone, ...forbidden, ...unknown]
  const names = { changed: namesOf(removed, nameOf), left: namesOf(left, nameOf) }
  if (left.length === 0) return { result: 'done', names }
  const counts = `deleted ${removed.length}, unknown ${unknown.length + gone.length}, not permitted ${forbidden.length}`
  const detail = failed.length === 0 ? counts : `${counts}, failed ${failed.length}`
  if (stoppedBy !== undefined) return { result: 'refused', code: stoppedBy.code, detail, names }
  if (forbidden.length === 0 || removed.length > 0) return { result: 'done', detail, names }
  return { result: 'refused', code: 'forbidden', detail, names }
}
