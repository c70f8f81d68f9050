import type { Operation } from '../load/recording.ts'
import type { RegisterOperation } from './linearizable.ts'

/** A history record of an item. `by`: the id of the operation that wrote it. */
export interface ItemRecord {
  readonly id: number
  readonly op: string
  readonly by: string
}

/** The state of an item on the servers at the end. */
export interface FinalItem {
  readonly item: string
  /** Oldest first. */
  readonly records: readonly ItemRecord[]
  readonly present: string | undefined
}

const WRITES = new Set(['publish', 'compare-and-set', 'delete', 'publish-gray', 'promote', 'stop'])

/** The writes of an item among all operations. */
export function writesOf(operations: readonly Operation[], item: string): Operation[] {
  return operations.filter(({ key, kind }) => key === item && WRITES.has(kind))
}

/**
 * The errors in the history of an item: an acknowledged write has exactly one record, an unknown one at most one, a
 * refused one none, and the records are in an order in which the writes can have happened. (A delete that found nothing has
 * no record.)
 */
export function wrongRecords(operations: readonly Operation[], final: FinalItem): string[] {
  const { item, records, present } = final
  const writes = new Map(writesOf(operations, item).map((write) => [write.id, write]))
  const places = new Map<string, number>()
  const wrong: string[] = []
  let before: string | undefined
  for (const [place, { id, op, by }] of records.entries()) {
    const write = writes.get(by)
    if (place > 0 && id <= records[place - 1]!.id) wrong.push(`record ${id} does not have a higher id`)
    if (write === undefined) {
      wrong.push(`record ${id} belongs to no write: ${by}`)
      continue
    }
    if (places.has(by)) wrong.push(`${about(write)} has two records`)
    if (write.outcome === 'refused' || write.outcome === 'changed')
      wrong.push(`${about(write)} was answered ${write.said} and has record ${id}`)
    if (write.kind === 'compare-and-set' && write.expected !== before)
      wrong.push(`${about(write)} replaced ${before}, and expected ${write.expected}`)
    const expectedOp = write.kind === 'delete' ? 'D' : before === undefined ? 'I' : 'U'
    if (op !== expectedOp) wrong.push(`record ${id} of ${about(write)} is ${op} instead of ${expectedOp}`)
    places.set(by, place)
    before = write.value
  }
  if (before !== present) wrong.push(`it is ${present}, and its newest record is of ${before}`)
  for (const write of writes.values())
    if (write.outcome === 'ok' && write.kind !== 'delete' && !places.has(write.id))
      wrong.push(`${about(write)} was acknowledged and has no record`)
  return [...wrong, ...misplaced(records, writes)].map((text) => `${item}: ${text}`)
}

/** Records before those of writes that had ended when their own write began. */
export function misplaced(records: readonly ItemRecord[], writes: ReadonlyMap<string, Operation>): string[] {
  const wrong: string[] = []
  let earliestEnd = Infinity
  let its = ''
  for (const { by } of [...records].reverse()) {
    const write = writes.get(by)
    if (write === undefined) continue
    if (write.begunMs > earliestEnd) wrong.push(`${about(write)} is before ${its}, which had ended earlier`)
    if (write.outcome === 'ok' && write.endedMs < earliestEnd) {
      earliestEnd = write.endedMs
      its = write.id
    }
  }
  return wrong
}

/**
 * The writes of an item for Porcupine. History says which of those without an answer have happened; the others are left out.
 * `finalReads`: what servers answered when all was quiet.
 */
export function registerOperations(
  operations: readonly Operation[],
  final: FinalItem,
  finalReads: readonly Operation[],
): RegisterOperation[] {
  const recorded = new Set(final.records.map(({ by }) => by))
  const clients = new Map<string, number>()
  const numberOf = (client: string): number => {
    if (!clients.has(client)) clients.set(client, clients.size)
    return clients.get(client)!
  }
  const reads = finalReads.filter(({ key }) => key === final.item)
  return [...writesOf(operations, final.item), ...reads].flatMap((operation): RegisterOperation[] => {
    const { outcome, kind, key, begunMs, value = null, expected = null, seen = null } = operation
    const isWritten = recorded.has(operation.id)
    if (outcome === 'refused' || (outcome === 'unknown' && !isWritten)) return []
    const endedMs = outcome === 'unknown' ? undefined : operation.endedMs
    const about = { client: numberOf(operation.client), key, begunMs, endedMs, value, expected, seen }
    if (kind === 'compare-and-set') return [{ ...about, kind, changed: isWritten }]
    // A delete without a record has found nothing.
    if (kind === 'read' || !isWritten) return [{ ...about, kind: 'read' as const, changed: null }]
    return [{ ...about, kind: 'put' as const, changed: null }]
  })
}

function about({ kind, id }: Operation): string {
  return `the ${kind} ${id}`
}
