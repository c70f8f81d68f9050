/** The limits of a request of etcd: its transactions plus the operations of its largest transaction, and its bytes. */
const MOST_OPERATIONS = 120
const MOST_BYTES = 1024 * 1024

/** The facts of a unit that determine the size of a request. */
export interface Weighed {
  readonly compare: readonly unknown[]
  readonly success: readonly unknown[]
  /** The keys that it writes. */
  readonly keys: readonly string[]
  readonly bytes: number
}

/** Whether a unit fits into a request of its own. */
export function fits(unit: Weighed): boolean {
  return widthOf(unit) < MOST_OPERATIONS && unit.bytes <= MOST_BYTES
}

/** How many more small transactions fit into a request. */
export function roomOf(request: readonly Weighed[]): number {
  const width = request.reduce((most, unit) => Math.max(most, widthOf(unit)), 0)
  return Math.max(0, MOST_OPERATIONS - request.length - width)
}

/**
 * Divides units into requests, in their order. etcd refuses a request of more than 1.5 MiB, or one that writes a key twice.
 * It also refuses more than 128 transactions and operations, counting only the operations of the largest transaction.
 */
export function packed<T extends Weighed>(units: readonly T[]): T[][] {
  const requests: T[][] = []
  let request: T[] = []
  let width = 0
  let bytes = 0
  let keys = new Set<string>()
  for (const unit of units) {
    const wider = Math.max(width, widthOf(unit))
    const isFull = request.length + 1 + wider > MOST_OPERATIONS || bytes + unit.bytes > MOST_BYTES
    const isTwice = unit.keys.some((key) => keys.has(key))
    if ((isFull || isTwice) && request.length > 0) {
      requests.push(request)
      request = []
      width = 0
      bytes = 0
      keys = new Set()
    }
    for (const key of unit.keys) keys.add(key)
    request.push(unit)
    width = Math.max(width, widthOf(unit))
    bytes += unit.bytes
  }
  if (request.length > 0) requests.push(request)
  return requests
}

/** etcd counts comparisons and operations alike. */
function widthOf(unit: Weighed): number {
  return Math.max(unit.compare.length, unit.success.length)
}
