import { createHash } from 'node:crypto'
import type { AuditEvent } from '../core/audit/audit-event.ts'
import type { ConfigItem } from '../core/config/state/config-item.ts'
import type { HistoryRecord } from '../core/config/state/history-record.ts'
import type { Revision, StoredInstance } from '../core/engine/ports.ts'
import type { Service } from '../core/naming/state/service.ts'
import type { StoredRecord } from '../core/records/record-kind.ts'
import { PEER_SECRETS, SECRETS_KEY } from '../core/engine/remembered-values.ts'
import { DamagedStore, type OnProgress } from './local-file.ts'

/** A history record, and the id of the version whose content it shows, if the store knows that. */
export interface ShownRecord {
  readonly record: HistoryRecord
  readonly versionId: number | undefined
}

/** A small value that servers remember. */
export interface RememberedValue {
  readonly name: string
  readonly value: string
}

/**
 * A part of a store, of one kind. Items, services, instances and records come in the order of their creation. History comes
 * item by item, the oldest record first; `isWhole`: the last item of the part is complete.
 */
export type StoredPart =
  | { readonly of: 'values'; readonly all: readonly RememberedValue[] }
  | { readonly of: 'records'; readonly all: readonly StoredRecord[] }
  | { readonly of: 'services'; readonly all: readonly Service[] }
  | { readonly of: 'instances'; readonly all: readonly StoredInstance[] }
  | { readonly of: 'items'; readonly all: readonly ConfigItem[] }
  | { readonly of: 'history'; readonly all: readonly ShownRecord[]; readonly isWhole: boolean }
  | { readonly of: 'audit'; readonly all: readonly AuditEvent[] }

/** The kinds of parts, in the order in which a source gives them. */
const PARTS = ['values', 'records', 'services', 'instances', 'items', 'history', 'audit'] as const

/** The reader of a store at one revision. */
export interface StoredSource {
  /** The place, for people. */
  readonly place: string
  readonly revision: Revision
  /** No stamp that the store has given out is larger. */
  readonly largestStamp: number
  /** About how many history records there are, and how many bytes etcd needs for all. */
  readonly size: { readonly records: number; readonly bytes: number }
  /** All parts, in the order of {@link PARTS}; the same each time. */
  parts(): AsyncGenerator<StoredPart> | Generator<StoredPart>
  close(): Promise<void> | void
}

/** The writer of a store that is empty, or that an interrupted copy has begun. Servers refuse it until `release`. */
export interface StoredTarget {
  readonly place: string
  /** The sums of the parts that an interrupted copy has written. */
  readonly written: Sums
  /** The part was written by an earlier copy. */
  skip(part: StoredPart): void
  /** Writes a part. `sums` include it and are written too, so that a later copy continues there. */
  write(part: StoredPart, sums: Sums): Promise<void>
  /** Everything is written: it can be read and verified. */
  complete(): Promise<void>
  /** From now on servers may use it. */
  release(): Promise<void>
  close(): Promise<void> | void
}

/** The number of things of each kind, and the sum of their digests, which is independent of their order. */
export type Sums = Readonly<
  Partial<Record<StoredPart['of'], { readonly count: number; readonly sum: number }>>
>

/** Filters a part: returns it without the rows that a copy leaves out. */
export type CopyFilter = (part: StoredPart) => StoredPart

/** The name of an installation, the secret of its servers, and the key that seals secrets: two installations have different ones. */
const OF_INSTALLATION = ['installation', 'store-empty', PEER_SECRETS.name, SECRETS_KEY.name]
/** Kinds of records that belong to the servers of an installation, or to browsers that are signed in there. */
const OF_SERVERS = ['session', 'server', 'member', 'election']

/** Leaves out data that two installations must not share: sessions, ephemeral instances, the servers and their secret. */
export const forAnother: CopyFilter = (part) => {
  if (part.of === 'records')
    return { ...part, all: part.all.filter(({ recordKind }) => !OF_SERVERS.includes(recordKind)) }
  if (part.of === 'instances') return { ...part, all: part.all.filter(({ record }) => !record.ephemeral) }
  return forBackup(part)
}

/** Leaves out the name and the secrets of the installation alone, and the places of members, which last as long as their leases. */
export const forBackup: CopyFilter = (part) => {
  if (part.of === 'values')
    return { ...part, all: part.all.filter(({ name }) => !OF_INSTALLATION.includes(name)) }
  if (part.of !== 'records') return part
  const all = part.all.filter(({ recordKind }) => recordKind !== 'member' && recordKind !== 'election')
  return { ...part, all }
}

/** The source and the target of a copy differ. */
class CopyDiffers extends DamagedStore {
  override readonly name = 'CopyDiffers'
}

/** Writes a source into a target, or the rest of it. Returns the sums of the target. */
export async function copyParts(
  source: StoredSource,
  target: StoredTarget,
  { leaveOut, onProgress }: { leaveOut: CopyFilter; onProgress: OnProgress },
): Promise<Sums> {
  let sums = target.written
  let toSkip = countOf(sums)
  let done = 0
  for await (const read of ahead(source)) {
    const part = leaveOut(read)
    done += part.all.length
    const there = Math.min(toSkip, part.all.length)
    toSkip -= there
    if (there > 0) target.skip(sliced(part, 0, there))
    if (there === part.all.length) continue
    const rest = sliced(part, there)
    sums = addedTo(sums, rest)
    await target.write(rest, sums)
    onProgress(`copying ${part.of}, ${done} of about ${source.size.records}`, done, source.size.records)
  }
  return sums
}

/** The next part is read while the present part is written. */
async function* ahead(source: StoredSource): AsyncGenerator<StoredPart> {
  const parts = source.parts()
  let next = Promise.resolve(parts.next())
  for (;;) {
    const { value, done } = await next
    if (done === true) return
    next = Promise.resolve(parts.next())
    // It is awaited above, unless the writer fails first.
    next.catch(() => undefined)
    yield value
  }
}

/** The sums of everything in a source. */
export async function sumsOf(
  source: StoredSource,
  { leaveOut, onProgress }: { leaveOut: CopyFilter; onProgress: OnProgress },
): Promise<Sums> {
  let sums: Sums = {}
  for await (const read of source.parts()) {
    sums = addedTo(sums, leaveOut(read))
    onProgress('verifying', countOf(sums), source.size.records)
  }
  return sums
}

/** Throws {@link CopyDiffers} if the sums differ. */
export function refuseDifference(written: Sums, found: Sums): void {
  for (const of of PARTS) {
    const [a, b] = [written[of] ?? NONE, found[of] ?? NONE]
    if (a.count === b.count && a.sum === b.sum) continue
    throw new CopyDiffers(
      `The copy is not what was read: ${of}: ${a.count} were written, ${b.count} are there` +
        `${a.count === b.count ? ', and they are not the same' : ''}. Remove the target, and copy again.`,
    )
  }
}

/** How many things there are in all. */
export function countOf(sums: Sums): number {
  return Object.values(sums).reduce((all, { count }) => all + count, 0)
}

const NONE = { count: 0, sum: 0 }
const MODULUS = 2 ** 48

function addedTo(sums: Sums, part: StoredPart): Sums {
  const { count, sum } = sums[part.of] ?? NONE
  const added = textsOf(part).reduce((all, text) => (all + digestOf(text)) % MODULUS, sum)
  return { ...sums, [part.of]: { count: count + part.all.length, sum: added } }
}

function sliced(part: StoredPart, from: number, to?: number): StoredPart {
  return { ...part, all: part.all.slice(from, to) } as StoredPart
}

/** The texts of a part that two stores can compare: without serials and ids of audit events, which each store chooses. */
function textsOf(part: StoredPart): string[] {
  switch (part.of) {
    case 'history':
      return part.all.map(({ record: { key, content, ...facts } }) =>
        textOf({ key: key.text, ...facts }, content),
      )
    case 'items':
      return part.all.map(({ key, content, ...facts }) => textOf({ key: key.text, ...facts }, content))
    case 'services':
      return part.all.map(({ serial: _serial, ...service }) => textOf(service))
    case 'instances':
      return part.all.map(({ record: { serial: _serial, ...record }, ...rest }) =>
        textOf({ ...rest, record }),
      )
    case 'audit':
      return part.all.map(({ id: _id, ...event }) => textOf(event))
    case 'values':
    case 'records':
      return part.all.map((one) => textOf(one))
  }
}

function textOf(facts: object, content?: Buffer): string {
  return JSON.stringify(facts, sortedFields) + (content === undefined ? '' : content.toString('latin1'))
}

/** Stores may read the fields of an object in another order. */
function sortedFields(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function digestOf(text: string): number {
  return createHash('sha256').update(text, 'utf8').digest().readUIntBE(0, 6)
}
