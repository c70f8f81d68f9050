import { request } from './request.ts'
import type { AuditEvent } from './answers.ts'

export type { AuditEvent } from './answers.ts'

/** The filter of the audit; empty texts do not count. */
export interface AuditFilter {
  readonly username: string
  readonly operation: string
  readonly item: string
  readonly ip: string
  readonly result: string
}

const PAGE_SIZE = 100

/** The newest events that match, or those before an event. */
export function findEvents(
  filter: AuditFilter,
  before: string | undefined,
): Promise<{ events: readonly AuditEvent[]; next: string | null }> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''))
  return request('GET', 'svc/v1/audit', { query: { ...given, before, pageSize: PAGE_SIZE } })
}
