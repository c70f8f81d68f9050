import { counterBy, type Metric } from './metric.ts'

/** The counts of the audit since the start. */
export interface AuditFigures {
  counts(): { readonly written: number; readonly merged: number; readonly dropped: number }
  /** How often each operation ran that is counted and not recorded. */
  tallies(): ReadonlyMap<string, { readonly count: number }>
}

/** The metrics of the audit. */
export function auditMetrics(figures: AuditFigures): Metric[] {
  return [
    counterBy(
      'waypost_audit_events_total',
      'Events of the audit: written, merged into another one, or dropped because the store could not write.',
      { label: 'outcome', read: () => Object.entries(figures.counts()) },
    ),
    {
      name: 'waypost_audit_counted_total',
      help: 'Calls that the audit counts instead of recording them, by operation.',
      type: 'counter',
      labels: ['operation'],
      read: () => Array.from(figures.tallies(), ([operation, { count }]) => [{ operation }, count] as const),
    },
  ]
}
