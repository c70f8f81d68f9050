import type { AuditEvent, AuditSearch } from '../../core/audit/audit-event.ts'
import type { KeptReads, ReadsOf } from '../../core/engine/ports.ts'
import { askerOf, type Caller } from '../authorisation.ts'
import type { Guard } from '../guard.ts'
import { Refusal } from '../../core/refusal.ts'
import { cutPage } from '../page.ts'

/** Where events are read. */
export interface AuditParts {
  readonly guard: Guard
  readonly store: ReadsOf<'findAudit'>
}

/** Which events are asked for, and how many at most. */
export interface AuditRequest {
  readonly search: AuditSearch
  readonly pageSize: number
}

/** Events, newest first. `next` is the `before` of the next page; undefined where nothing older is left to look at. */
export interface FoundAudit {
  readonly events: readonly AuditEvent[]
  readonly next: number | undefined
}

/** The most steps of the store that one request takes. Then its page is short, and the next one continues. */
const MOST_STEPS = 500

/** Makes the operations on the audit. It is written behind: an event is there within a second. */
export function auditOperations({ guard, store }: AuditParts) {
  return {
    /** A page of the events that match. */
    search: guard.operation({
      permission: { action: 'read', resource: 'audit' },
      resources: () => [{ kind: 'audit' }],
      inPlace: true,
      run: ({ search, pageSize }: AuditRequest, caller: Caller) => {
        requireKnown(search.operation, [...guard.operations, ...OTHER_OPERATIONS])
        const most = cutPage({ pageNo: 1, pageSize }).pageSize
        return searchAudit(store.reads(askerOf(caller)), search, most)
      },
    }),
  }
}

/** Events that belong to no operation of a running server. */
const OTHER_OPERATIONS = ['several', 'end connection', 'rotate peer secret', 'accept old tokens']

/** Throws Refusal `invalid-parameter` with all names for one that no event can have. */
function requireKnown(operation: string | undefined, names: readonly string[]): void {
  if (operation === undefined || names.includes(operation)) return
  const allowed = names.toSorted().join(', ')
  const parameter = 'operation'
  throw new Refusal('invalid-parameter', `There is no operation ${JSON.stringify(operation)}: ${allowed}.`, {
    parameter,
    allowed,
  })
}

async function searchAudit(
  reads: Pick<KeptReads, 'findAudit'>,
  search: AuditSearch,
  most: number,
): Promise<FoundAudit> {
  const events: AuditEvent[] = []
  let { before } = search
  for (let step = 0; step < MOST_STEPS; step++) {
    const found = await reads.findAudit({ ...search, before }, most - events.length)
    events.push(...found.events)
    before = found.goOn
    if (before === undefined || events.length >= most) break
  }
  return { events, next: before }
}
