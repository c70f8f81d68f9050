import { ContentBudget } from '../core/config/content-budget.ts'
import type { State } from '../core/state.ts'
import { memoryLimitBytes } from '../machine/memory-limit.ts'
import { Guard } from '../operations/guard.ts'
import { allOperations, type OperationParts, type Operations } from '../operations/operations.ts'
import type { Settings } from '../settings/settings.ts'

/** What the operations of a server work on, besides what is made here. */
export type ServerParts = Omit<OperationParts, 'guard' | 'budget' | 'state'> & { readonly state: State }

/** The operations of a server. There is no sign-in yet: everybody may do everything. */
export function serverOperations(parts: ServerParts, settings: Settings): Operations {
  return allOperations({ ...parts, guard: new Guard(), budget: contentBudget(parts.state, settings) })
}

/** Without a limit of its own the server leaves the other half to its answers and to the disk's cache. */
function contentBudget(state: State, settings: Settings): ContentBudget {
  return new ContentBudget(state, settings.maxContentMemoryBytes || Math.floor(memoryLimitBytes() / 2))
}
