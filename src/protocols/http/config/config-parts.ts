import type { Engine } from '../../../core/engine.ts'
import type { State } from '../../../core/state.ts'
import type { PublishLimits } from './publish-params.ts'

/** What the routes of configurations work on. */
export interface ConfigParts extends PublishLimits {
  readonly state: Pick<State, 'config' | 'configs'>
  readonly engine: Pick<Engine, 'execute'>
}

/** Permissions of the operations on configurations. */
export const READ_CONFIG = { action: 'read', resource: 'config' } as const
export const WRITE_CONFIG = { action: 'write', resource: 'config' } as const
