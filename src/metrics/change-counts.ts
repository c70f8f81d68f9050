import type { Change } from '../core/changes.ts'
import type { Metric } from './metric.ts'

/** Counts what has happened, by kind. */
export class ChangeCounts {
  readonly #counts: Record<Change['kind'], number> = {
    'config-published': 0,
    'config-deleted': 0,
    'namespace-saved': 0,
    'namespace-deleted': 0,
    'service-saved': 0,
    'service-deleted': 0,
    'instance-saved': 0,
    'instance-removed': 0,
    'instance-health-changed': 0,
    'metadata-remembered': 0,
    'metadata-forgotten': 0,
    'switches-set': 0,
  }

  /** To be called with every committed change. */
  readonly onChange = ({ kind }: Change): void => {
    this.#counts[kind]++
  }

  metrics(): Metric[] {
    return [
      {
        name: 'waypost_changes_total',
        help: 'Changes of what is known, by kind.',
        type: 'counter',
        labels: ['kind'],
        read: () => Object.entries(this.#counts).map(([kind, count]) => [{ kind }, count] as const),
      },
    ]
  }
}
