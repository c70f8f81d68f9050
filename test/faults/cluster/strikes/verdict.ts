import { violations } from '../../recorded/check-recording.ts'
import { versionsOfOwned, type Version, readsThatGoBack } from '../check/sessions.ts'
import type { FinalItem } from '../check/item-history.ts'
import { registerOperations, wrongRecords } from '../check/item-history.ts'
import { type FinalGrayItem, grayOperations, wrongGrayItem } from '../check/gray-history.ts'
import type { RegisterOperation } from '../check/linearizable.ts'
import type { Window } from '../check/service-gaps.ts'
import { type Beating, REMOVE_MS, UNHEALTHY_MS } from '../load/beating.ts'
import { taggedKey } from '../load/gray-clients.ts'
import type { ListOfService, Operation, Readiness } from '../load/recording.ts'

/** The lists in which an instance that beats is missing or unhealthy. */
export function missingInstances(lists: readonly ListOfService[], steady: readonly Beating[]): string[] {
  const span = ([begunMs, endedMs]: readonly [number, number]) => ({ begunMs, endedMs })
  const lives = steady.map(({ address, heard }) => {
    const [registered, ...beats] = heard.map(span)
    return { address, unhealthyMs: UNHEALTHY_MS, removeMs: REMOVE_MS, registered: registered!, beats }
  })
  const byServer = new Map<number, ListOfService[]>()
  for (const list of lists) byServer.set(list.server, [...(byServer.get(list.server) ?? []), list])
  return [...byServer].flatMap(([server, own]) =>
    violations({ writes: [], reads: [], finalViews: [], lives, lists: own }).map(
      (text) => `server ${server + 1}: ${text}`,
    ),
  )
}

/** The operations of each key. */
function byKey(operations: readonly Operation[]): Map<string, Operation[]> {
  const keys = new Map<string, Operation[]>()
  for (const operation of operations) {
    const own = keys.get(operation.key)
    if (own === undefined) keys.set(operation.key, [operation])
    else own.push(operation)
  }
  return keys
}

/** The errors in the histories of items, and in the reads of clients. */
export function wrongItems(operations: readonly Operation[], items: readonly FinalItem[]): string[] {
  const all = byKey(operations)
  return items.flatMap((final) => {
    const own = all.get(final.item) ?? []
    const byId = new Map(own.map((each) => [each.id, each]))
    const versions = final.records.map(({ by }) => ({ value: byId.get(by)?.value, by: byId.get(by) }))
    // The history says which of the unknown writes have happened, and when.
    const certain = own.filter(({ kind, outcome }) => kind === 'read' || outcome !== 'unknown')
    return [...wrongRecords(own, final), ...readsThatGoBack(certain, final.item, [FIRST, ...versions])]
  })
}

const FIRST: Version = { value: undefined, by: undefined }

/** The same of items that may have a gray version. */
export function wrongGrayItems(operations: readonly Operation[], items: readonly FinalGrayItem[]): string[] {
  const all = byKey(operations)
  return items.flatMap((final) => wrongGrayItem(ofViews(all, final), final))
}

function ofViews(all: ReadonlyMap<string, Operation[]>, { item }: FinalGrayItem): Operation[] {
  return [...(all.get(item) ?? []), ...(all.get(taggedKey(item)) ?? [])]
}

/** The errors in the reads of instances. Each instance has one client that changes it. */
export function wrongInstances(operations: readonly Operation[], keys: readonly string[]): string[] {
  const all = byKey(operations)
  return keys.flatMap((key) => {
    const own = all.get(key) ?? []
    return readsThatGoBack(own, key, versionsOfOwned(own, key))
  })
}

/** The input of Porcupine: the writes of items and instances, and what all servers answer at the end. */
export function toRegisters(
  operations: readonly Operation[],
  items: readonly FinalItem[],
  reads: readonly Operation[],
): RegisterOperation[] {
  const instances = operations.filter(({ kind }) => kind === 'register' || kind === 'deregister')
  const keys = new Set(instances.map(({ key }) => key))
  const all = byKey(operations)
  return [
    ...items.flatMap((final) => registerOperations(all.get(final.item) ?? [], final, reads)),
    ...[...instances, ...reads.filter(({ key }) => keys.has(key))].flatMap(toRegister),
  ]
}

/** The input of Porcupine about items that may have a gray version. */
export function toGrayRegisters(
  operations: readonly Operation[],
  items: readonly FinalGrayItem[],
  reads: readonly Operation[],
): RegisterOperation[] {
  const all = byKey(operations)
  return items.flatMap((final) => grayOperations(all.get(final.item) ?? [], final, reads))
}

/** An instance has no history, so an unknown change may happen at any time. */
function toRegister(operation: Operation): RegisterOperation[] {
  const { outcome, kind, key, value = null, seen = null, begunMs, server } = operation
  if (outcome === 'refused') return []
  const endedMs = outcome === 'unknown' ? undefined : operation.endedMs
  const isRead = kind === 'read'
  const about = { client: isRead ? server + 1 : 0, key, value, seen, expected: null, changed: null }
  return [{ ...about, kind: isRead ? 'read' : 'put', begunMs, endedMs }]
}

/** The requests in a window that failed at servers where nobody must notice anything. */
export function noticed(
  operations: readonly Operation[],
  { fromMs, toMs }: Window,
  struck: readonly number[],
): string[] {
  return operations
    .filter(
      ({ server, outcome, begunMs, endedMs }) =>
        !struck.includes(server) &&
        (outcome === 'refused' || outcome === 'unknown') &&
        begunMs >= fromMs &&
        endedMs <= toMs,
    )
    .map(
      ({ kind, server, said, begunMs, endedMs }) =>
        `${kind} at server ${server + 1}, ${Math.round(begunMs - fromMs)} ms after the strike: ${said} after ` +
        `${Math.round(endedMs - begunMs)} ms`,
    )
}

/** The answers of `/readyz` other than 200 in a window, at servers that must stay ready. */
export function unready(
  readiness: readonly Readiness[],
  { fromMs, toMs }: Window,
  mayBeUnready: readonly number[],
): string[] {
  return readiness
    .filter(
      ({ server, status, begunMs, endedMs }) =>
        status !== 200 && begunMs >= fromMs && endedMs <= toMs && !mayBeUnready.includes(server),
    )
    .map(
      ({ server, begunMs, text }) => `server ${server + 1} after ${Math.round(begunMs - fromMs)} ms: ${text}`,
    )
}

const CHANGES = new Set([
  'publish',
  'compare-and-set',
  'delete',
  'publish-gray',
  'promote',
  'stop',
  'register',
  'deregister',
])

/** How long the slowest change of a window was under way that was answered, ms. */
export function slowestChange(
  operations: readonly Operation[],
  { fromMs, toMs }: Window,
  struck: readonly number[],
): number {
  const took = operations
    .filter(
      ({ kind, server, begunMs, endedMs, said }) =>
        CHANGES.has(kind) &&
        !struck.includes(server) &&
        begunMs >= fromMs &&
        endedMs <= toMs &&
        said !== 'lost' &&
        said !== 'refused',
    )
    .map(({ begunMs, endedMs }) => endedMs - begunMs)
  return Math.max(0, ...took)
}
