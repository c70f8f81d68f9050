import { MEMBER, type MemberFacts } from '../../../core/cluster/members/member-records.ts'
import { includes, rangeText, type VersionRange } from '../../../core/cluster/members/versions.ts'
import type { Change } from '../../../core/decisions/changes.ts'
import type { Revision } from '../../../core/engine/ports.ts'
import { fieldsOf, numberIn, textIn } from '../../../core/records/shape.ts'
import { recordKindNamed } from '../../../core/records/record-kind.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import { NotExaminable } from '../../local-file.ts'
import { EtcdError } from '../client/etcd-error.ts'
import type { KeyCondition, KeyValue, TxnOperation, TxnOperationResult } from '../client/messages.ts'
import { prefixEnd } from '../client/range-end.ts'
import type { KeyChange } from '../client/whole-revisions.ts'
import { createOnce } from './create-once.ts'
import { readRecord } from '../keys/feed-changes.ts'
import type { Keys } from '../keys/keys.ts'
import { readingOf } from '../failures/unreadable.ts'

/**
 * The layouts of keys and values that this version of Waypost reads and writes. A record that older servers cannot read,
 * or must not lose, needs a new one: docs/recipes/add-a-layout.md.
 */
export const LAYOUTS: VersionRange = { from: 1, to: 3 }

/** The first layout in which the secrets of the servers may be several, and values may be sealed (docs/decisions/0057). */
export const SECRETS_LAYOUT = 2

/** The first layout in which history records may name the text of a gray version (docs/decisions/0060). */
export const SHARED_TEXTS_LAYOUT = 3

/** How many servers may join or leave while the layout is raised. */
const MOST_TRIES = 5

/** The data in etcd has a layout that this server cannot use. */
export class UnknownLayout extends NotExaminable {
  override readonly name = 'UnknownLayout'
}

/** What the layout in use works with. */
export interface LayoutParts {
  readonly client: Pick<EtcdClient, 'range' | 'txn'>
  readonly keys: Keys
  /** What this server reads and writes; by default {@link LAYOUTS}. */
  readonly understood?: VersionRange | undefined
}

/**
 * The layout in which the data in etcd is written. It is a key that only rises. A later layout is used as soon as something
 * must be written that needs it, and only if all members understand it. Until then older servers can be started again.
 */
export class LayoutInUse {
  readonly #parts: LayoutParts
  readonly #key: string
  readonly #understood: VersionRange
  #current = 0

  constructor(parts: LayoutParts) {
    const { keys, understood = LAYOUTS } = parts
    this.#parts = parts
    this.#key = keys.of({ of: 'format' })
    this.#understood = understood
  }

  /** The layout in use, as this server has seen it last; 0: not yet. */
  get current(): number {
    return this.#current
  }

  /** Notes the layout in an empty store: the oldest that this server writes. Throws {@link UnknownLayout}. */
  async begin(): Promise<void> {
    const { client } = this.#parts
    this.#saw(await createOnce(client, this.#key, () => String(this.#understood.from)))
  }

  /** Reads the layout again, with the revision at which everything can be loaded. Throws {@link UnknownLayout}. */
  async look(): Promise<Revision> {
    const { revision, kvs } = await this.#parts.client.range({ key: this.#key })
    this.saw(kvs[0])
    return revision
  }

  /** The key of the layout, at any time. Throws {@link UnknownLayout} if this server cannot use it. */
  saw(format: KeyValue | undefined): void {
    if (format !== undefined) this.#saw(Buffer.from(format.value).toString())
  }

  /** The next revision. Throws {@link UnknownLayout}: then it must not be applied. */
  readonly follow = (events: readonly KeyChange[]): void => {
    for (const event of events) if (event.kind === 'put' && event.kv.key === this.#key) this.saw(event.kv)
  }

  /**
   * Resolves when records of this layout may be written, from then on for ever. Rejects with Refusal `cluster-not-upgraded`
   * if a member does not understand it, and with `EtcdError` if etcd cannot be reached in the time that is left.
   */
  async raiseTo(layout: number, leftMs?: () => number): Promise<void> {
    for (let tries = 0; this.#current < layout; tries++) {
      if (tries === MOST_TRIES) throw new EtcdError('unavailable', 'Too many servers join or leave at once.')
      const seen = await this.#lookAtMembers(leftMs?.())
      if (this.#current >= layout) return
      refuseOlder(layout, seen.members)
      await this.#raise(layout, seen, leftMs?.())
    }
  }

  #saw(text: string): void {
    this.#current = readLayout(this.#key, text, this.#understood)
  }

  async #lookAtMembers(callMs?: number): Promise<Seen> {
    const prefix = this.#parts.keys.every('member')
    const success: TxnOperation[] = [
      { do: 'range', key: this.#key },
      { do: 'range', key: prefix, end: prefixEnd(prefix) },
    ]
    const { revision, results } = await this.#parts.client.txn({ compare: [], success }, callMs)
    const [[format] = [], members = []] = results.map(kvsOf)
    this.saw(format)
    return { revision, format, members: members.map(memberOf) }
  }

  /** If somebody has joined or raised it meanwhile, nothing is written. If the answer is lost, the next look finds out. */
  async #raise(layout: number, { revision, format }: Seen, callMs?: number): Promise<void> {
    const members = this.#parts.keys.every('member')
    try {
      const compare: KeyCondition[] = [
        { key: this.#key, of: 'mod', is: '=', to: format?.modRevision ?? 0 },
        { key: members, end: prefixEnd(members), of: 'mod', is: '<', to: revision + 1 },
      ]
      const success: TxnOperation[] = [{ do: 'put', key: this.#key, value: Buffer.from(String(layout)) }]
      const { succeeded } = await this.#parts.client.txn({ compare, success }, callMs)
      if (succeeded) this.#current = layout
    } catch (error) {
      if (!(error instanceof EtcdError && error.inDoubt)) throw error
    }
  }
}

/** The first layout in which these changes can be written. */
export function layoutOf(changes: readonly Change[]): number {
  const layouts = changes.map((change) =>
    change.kind === 'record-saved' ? (recordKindNamed(change.recordKind)?.layout ?? 1) : 1,
  )
  return layouts.reduce((latest, layout) => Math.max(latest, layout), 1)
}

/** What the key of the layout says while a copy fills the store: no server can use it, an older one neither. */
export interface UnderCopy {
  /** The place that is copied, and its revision. */
  readonly source: string
  readonly revision: Revision
}

/** The copy that the text of the layout's key names; undefined: none. Throws `UnreadableValue`. */
export function copyIn(key: string, text: string): UnderCopy | undefined {
  return readingOf(key, () => readCopy(text))
}

function readCopy(text: string): UnderCopy | undefined {
  if (!text.startsWith('{')) return undefined
  const { copy } = JSON.parse(text) as { copy?: UnderCopy }
  if (copy === undefined) return undefined
  const fields = fieldsOf(copy)
  textIn(fields, 'source')
  numberIn(fields, 'revision')
  fieldsOf(fields['sums'] ?? {})
  return copy
}

/** What etcd has about the layout at one moment. */
interface Seen {
  readonly revision: number
  readonly format: KeyValue | undefined
  readonly members: readonly MemberFacts[]
}

/** The number in the text of a layout. Throws {@link UnknownLayout} if it is not one of those that are understood. */
export function readLayout(key: string, text: string, understood: VersionRange): number {
  const copy = copyIn(key, text)
  if (copy !== undefined)
    throw new UnknownLayout(
      `The keys of etcd under this prefix are half filled by a copy of ${copy.source} (key ${key}). Continue the copy with ` +
        '`waypost copy-store`, or remove the keys.',
    )
  if (!/^[1-9]\d*$/.test(text))
    throw new UnknownLayout(
      `The key ${key} of etcd has the layout ${JSON.stringify(text.slice(0, 40))}, which is no number: the keys under ` +
        'this prefix are not those of a Waypost. Choose another prefix.',
    )
  const layout = Number(text)
  if (includes(understood, layout)) return layout
  const remedy =
    layout > understood.to
      ? 'Use the version that wrote it, or a later one.'
      : 'Start a version between the two first, which reads the old layout and writes a later one.'
  throw new UnknownLayout(
    `The data in etcd has the layout ${text} (key ${key}); this version of Waypost knows layout ` +
      `${rangeText(understood)}. ${remedy}`,
  )
}

function refuseOlder(layout: number, members: readonly MemberFacts[]): void {
  const older = members.filter(({ versions }) => !includes(versions.layouts, layout))
  if (older.length === 0) return
  const names = older.map(
    ({ ip, port, version, versions }) =>
      `${ip}:${port} (Waypost ${version}, layout ${rangeText(versions.layouts)})`,
  )
  throw new Refusal(
    'cluster-not-upgraded',
    `This needs layout ${layout} of the store, which not every server understands yet: ${names.join(', ')}. ` +
      'Upgrade them, then try again.',
  )
}

/** The member of a key. */
export function memberOf({ key, value }: KeyValue): MemberFacts {
  return readRecord(MEMBER.name, key, value).value as MemberFacts
}

function kvsOf(result: TxnOperationResult): readonly KeyValue[] {
  return result.did === 'range' ? result.kvs : []
}
