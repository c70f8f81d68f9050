import type { Change } from '../core/decisions/changes.ts'
import { STORED_KINDS } from '../core/engine/stored-kinds.ts'
import { counterBy, type Metric } from './metric.ts'

/** Counts changes by kind. */
export class ChangeCounts {
  readonly #counts: Record<Exclude<Change['kind'], 'record-saved' | 'record-removed'>, number> = {
    'config-published': 0,
    'config-deleted': 0,
    'history-imported': 0,
    'service-saved': 0,
    'service-deleted': 0,
    'instance-saved': 0,
    'instance-removed': 0,
    'instance-health-changed': 0,
  }
  /** The counts of records, as `<kind>-saved` and `<kind>-removed`. */
  readonly #recordCounts = new Map<string, number>()

  constructor() {
    for (const { name } of STORED_KINDS)
      for (const what of ['saved', 'removed']) this.#recordCounts.set(`${name}-${what}`, 0)
  }

  /** Call it with every applied change. */
  readonly onChange = (change: Change): void => {
    if (change.kind === 'record-saved') this.#countRecord(`${change.recordKind}-saved`)
    else if (change.kind === 'record-removed') this.#countRecord(`${change.recordKind}-removed`)
    else this.#counts[change.kind]++
  }

  metrics(): Metric[] {
    return [
      counterBy('waypost_changes_total', 'Changes by kind.', {
        label: 'kind',
        read: () => [...Object.entries(this.#counts), ...this.#recordCounts],
      }),
    ]
  }

  #countRecord(kind: string): void {
    this.#recordCounts.set(kind, (this.#recordCounts.get(kind) ?? 0) + 1)
  }
}
