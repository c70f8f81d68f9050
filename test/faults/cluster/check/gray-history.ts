import { taggedKey } from '../load/gray-clients.ts'
import type { Operation } from '../load/recording.ts'
import { type ItemRecord, misplaced, writesOf } from './item-history.ts'
import type { RegisterOperation } from './linearizable.ts'
import { Views, viewsThatGoBack } from './gray-views.ts'
import { readsThatGoBack, type Version } from './sessions.ts'

/** A history record of an item that may have a gray version. */
export interface GrayItemRecord extends ItemRecord {
  /** Whether it is of the gray version. */
  readonly isGray: boolean
}

/** The state of such an item on the servers at the end. */
export interface FinalGrayItem {
  readonly item: string
  /** Oldest first. */
  readonly records: readonly GrayItemRecord[]
  /** The versions that clients see without the tag and with it. */
  readonly formal: string | undefined
  readonly tagged: string | undefined
}

const ENDS = new Set(['promote', 'stop', 'delete'])
const FIRST: Version = { value: undefined, by: undefined }

/**
 * The errors in the history of an item with a gray version, and in the reads of clients: an acknowledged write has its
 * records and a refused one none, those of each version are in an order in which the writes can have happened, and no view goes back.
 * The formal version and the gray one are written apart, so nothing says how the two orders fit together, but for promotions and deletions.
 */
export function wrongGrayItem(operations: readonly Operation[], final: FinalGrayItem): string[] {
  const { item, records } = final
  const writes = new Map(writesOf(operations, item).map((write) => [write.id, write]))
  const gray = new Sequence(writes, grayAfter)
  const formal = new Sequence(writes, (op, write) => formalAfter(op, write, gray.versions))
  const [ofGray, ofFormal] = [records.filter(({ isGray }) => isGray), records.filter(({ isGray }) => !isGray)]
  for (const record of ofGray) gray.add(record)
  for (const record of ofFormal) formal.add(record)
  const views = new Views(formal.versions, gray.versions)
  const certain = operations.filter(({ kind, outcome }) => kind === 'read' || outcome !== 'unknown')
  const plain = certain.filter(({ key }) => key === item)
  const tagged = certain.filter(({ key, kind }) => kind !== 'read' || key === taggedKey(item))
  const wrong = [
    ...gray.wrong,
    ...formal.wrong,
    ...wrongOutcomes(records, writes),
    ...misplaced(ofGray, writes),
    ...misplaced(ofFormal, writes),
    ...wrongEnd(final, formal.versions.at(-1)!.value, gray.versions.at(-1)!.value),
    ...viewsThatGoBack(tagged, views),
  ]
  return [...wrong.map((text) => `${item}: ${text}`), ...readsThatGoBack(plain, item, formal.versions)]
}

/** The versions of the formal text or of the gray one, made of its records in their order. */
class Sequence {
  readonly versions: Version[] = [FIRST]
  readonly wrong: string[] = []
  readonly #writes: ReadonlyMap<string, Operation>
  readonly #after: (op: string, write: Operation) => string | undefined

  constructor(
    writes: ReadonlyMap<string, Operation>,
    after: (op: string, write: Operation) => string | undefined,
  ) {
    this.#writes = writes
    this.#after = after
  }

  add({ id, op, by }: GrayItemRecord): void {
    const write = this.#writes.get(by)
    if (write === undefined) return void this.wrong.push(`record ${id} belongs to no write: ${by}`)
    const before = this.versions.at(-1)!.value
    const value = this.#after(op, write)
    const isFitting = op === 'I' ? before === undefined : before !== undefined
    if (!isFitting || value === NO_SUCH_WRITE)
      this.wrong.push(`record ${id} (${op}) does not fit to the ${write.kind} ${by}`)
    this.versions.push({ value, by: write })
  }
}

const NO_SUCH_WRITE = 'no such write'

function grayAfter(op: string, { kind, value }: Operation): string | undefined {
  if (op === 'D') return ENDS.has(kind) ? undefined : NO_SUCH_WRITE
  return kind === 'publish-gray' ? value : NO_SUCH_WRITE
}

/** A promotion gives the text to all that the gray version had before its end. */
function formalAfter(op: string, write: Operation, gray: readonly Version[]): string | undefined {
  if (op === 'D') return write.kind === 'delete' ? undefined : NO_SUCH_WRITE
  if (write.kind === 'promote') return gray[gray.findIndex(({ by }) => by?.id === write.id) - 1]?.value
  return write.kind === 'publish' ? write.value : NO_SUCH_WRITE
}

function wrongEnd(final: FinalGrayItem, formal: string | undefined, gray: string | undefined): string[] {
  const last = [formal, gray ?? formal]
  if (last[0] === final.formal && last[1] === final.tagged) return []
  return [`it is ${final.formal} and ${final.tagged}, and its newest records say ${last.join(' and ')}`]
}

function wrongOutcomes(records: readonly GrayItemRecord[], writes: ReadonlyMap<string, Operation>): string[] {
  const recorded = new Set(records.map(({ by }) => by))
  const ended = new Set(records.filter(({ op, isGray }) => isGray && op === 'D').map(({ by }) => by))
  return [...writes.values()].flatMap(({ id, kind, outcome, said }) => {
    // A promotion of what is there already has no record of the formal version. A deletion may have found nothing.
    const isThere = kind === 'promote' || kind === 'stop' ? ended.has(id) : recorded.has(id)
    if (outcome === 'ok' && kind !== 'delete' && !isThere)
      return [`the ${kind} ${id} was acknowledged and has no record`]
    if ((outcome === 'refused' || outcome === 'changed') && recorded.has(id))
      return [`the ${kind} ${id} was answered ${said} and has a record`]
    return []
  })
}

const KINDS: Partial<Record<Operation['kind'], RegisterOperation['kind']>> = {
  publish: 'put',
  'publish-gray': 'put-gray',
  promote: 'promote',
  stop: 'stop',
  delete: 'delete',
}

/**
 * The writes of an item for Porcupine, and what all servers answered at the end with the tag and without. History says which of the
 * writes without an answer have happened; the others are left out.
 */
export function grayOperations(
  operations: readonly Operation[],
  { item, records }: FinalGrayItem,
  finalReads: readonly Operation[],
): RegisterOperation[] {
  const recorded = new Set(records.map(({ by }) => by))
  const nothing = { key: item, value: null, expected: null, seen: null, changed: null }
  const clients = new Map<string, number>()
  const numberOf = (client: string): number => {
    if (!clients.has(client)) clients.set(client, clients.size)
    return clients.get(client)!
  }
  const writes = writesOf(operations, item).flatMap((write): RegisterOperation[] => {
    const { id, kind, outcome, client, value = null, begunMs, endedMs } = write
    const isRecorded = recorded.has(id)
    if (outcome === 'refused' || (outcome === 'unknown' && !isRecorded)) return []
    const changed = kind === 'publish' || kind === 'publish-gray' ? null : isRecorded
    const times = { begunMs, endedMs: outcome === 'unknown' ? undefined : endedMs }
    return [{ ...nothing, client: numberOf(client), kind: KINDS[kind]!, value, changed, ...times }]
  })
  const reads = finalReads
    .filter(({ key }) => key === item || key === taggedKey(item))
    .map(({ key, client, seen = null, begunMs, endedMs }): RegisterOperation => {
      const kind = key === item ? 'read' : 'read-gray'
      return { ...nothing, client: numberOf(client), kind, seen, begunMs, endedMs }
    })
  return [...writes, ...reads]
}
