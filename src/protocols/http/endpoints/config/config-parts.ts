import type { ContentBudget } from '../../../../core/config/content-budget.ts'
import type { Engine } from '../../../../core/engine.ts'
import type { State } from '../../../../core/state.ts'
import type { PublishLimits } from './publish-params.ts'

/** What the routes of configurations work on. */
export interface ConfigParts extends PublishLimits {
  readonly state: Pick<State, 'config' | 'configs'>
  readonly engine: Pick<Engine, 'execute'>
  /** What contents may take in all; every publish stays within it. */
  readonly budget: Pick<ContentBudget, 'within'>
}

/** Permissions of the operations on configurations. */
export const READ_CONFIG = { action: 'read', resource: 'config' } as const
export const WRITE_CONFIG = { action: 'write', resource: 'config' } as const
