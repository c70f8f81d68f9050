import { type Elected, ELECTION, memberIdOf } from '../../../core/cluster/members/member-records.ts'
import type { MemberFacts } from '../../../core/cluster/members/member-records.ts'
import { readOrNone, TERM } from '../../../core/engine/remembered-values.ts'
import { FIRST_RELEASED, overlap, rangeText } from '../../../core/cluster/members/versions.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyCondition, KeyValue, TxnOperation, TxnOperationResult } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { memberOf } from '../keys/living-members.ts'
import { readRecord } from '../keys/read-values.ts'
import { readsOfStore, type SeenStore, seenIn } from '../format/seen-store.ts'
import type { Keys } from '../keys/keys.ts'
import { PlaceTaken } from '../failures/place-taken.ts'
import { requestOf, toJson } from '../keys/values.ts'

/** The reads before those of the store. */
const OWN_READS = 4

/** Servers that share a store must judge callers alike. */
export class AuthDiffers extends Error {
  override readonly name = 'AuthDiffers'

  constructor(own: MemberFacts, other: MemberFacts) {
    super(
      `Server ${memberIdOf(own)} has auth=${own.auth}, but server ${memberIdOf(other)}, which is running, has ` +
        `auth=${other.auth}. All servers of a cluster need the same value: start this one with auth=${other.auth}, ` +
        'or stop all servers before you change it.',
    )
  }
}

/** Servers need a layout of the store, and a version of the messages between them, in common. */
export class VersionsDiffer extends Error {
  override readonly name = 'VersionsDiffer'

  constructor(own: MemberFacts, other: MemberFacts) {
    const understood = ({ version, versions: { layouts, messages } }: MemberFacts): string =>
      `(Waypost ${version}) understands layout ${rangeText(layouts)} of the store and version ${rangeText(messages)} of the messages between servers`
    const isReleased = Math.min(other.versions.layouts.to, other.versions.messages.to) >= FIRST_RELEASED
    super(
      `Server ${memberIdOf(own)} ${understood(own)}, and server ${memberIdOf(other)}, which is running, ${understood(other)}. ` +
        (isReleased
          ? 'Upgrade by way of a version that understands both.'
          : 'That one is a development build from before Waypost 0.1.0: stop it first.'),
    )
  }
}

/** The keys of the members at one moment. */
export interface SeenMembers {
  readonly revision: number
  readonly own: KeyValue | undefined
  readonly others: readonly KeyValue[]
  readonly elected: KeyValue | undefined
  readonly term: KeyValue | undefined
  /** The last request of a process in this place. */
  readonly request: KeyValue | undefined
  /** The layout in use, and the installation. */
  readonly store: SeenStore
}

/** The keys of one member: its place among the members, and its part in the election. */
export class MemberPlace {
  readonly #client: Pick<EtcdClient, 'txn'>
  readonly #keys: Keys
  readonly #facts: MemberFacts
  readonly #id: string
  readonly #value: Buffer

  constructor(client: Pick<EtcdClient, 'txn'>, keys: Keys, facts: MemberFacts) {
    this.#client = client
    this.#keys = keys
    this.#facts = facts
    this.#id = memberIdOf(facts)
    this.#value = recordValue(facts)
  }

  /** Reads everything about the members at one revision. */
  async read(): Promise<SeenMembers> {
    const prefix = this.#keys.every('member')
    const { revision, results } = await this.#client.txn({
      compare: [],
      success: [
        { do: 'range', key: prefix, end: prefixEnd(prefix) },
        { do: 'range', key: this.#keys.of({ of: 'elected' }) },
        { do: 'range', key: this.#termKey },
        { do: 'range', key: this.#keys.of({ of: 'request', id: this.#id }) },
        ...readsOfStore(this.#keys, this.#id),
      ],
    })
    const [members = [], [elected] = [], [term] = [], [request] = []] = results.map(kvsOf)
    // Without a lease it is the place of no server.
    const living = members.filter(({ lease }) => lease !== 0n)
    const own = living.find(({ key }) => key === this.#key)
    const others = living.filter(({ key }) => key !== this.#key)
    const store = seenIn(results.slice(OWN_READS))
    return { revision, own, others, elected, term, request, store }
  }

  /** Whether the place of this server is on this lease, and has the facts that the others need. */
  isTaken({ own }: SeenMembers, lease: bigint): boolean {
    return own?.lease === lease && this.#value.equals(own.value)
  }

  /** Throws {@link PlaceTaken} if a request of another process was in this place, which begins with taking it. */
  refuseTaken({ request }: SeenMembers): void {
    const process = request && readOrNothing(() => requestOf(request.value).process)
    if (process !== undefined && process !== this.#facts.process) throw new PlaceTaken(request!.key)
  }

  /** Throws {@link PlaceTaken} if another process is the member. A process that joins replaces it instead. */
  refuseReplaced({ own }: SeenMembers): void {
    const process = own && memberOf(own)?.process
    if (process !== undefined && process !== this.#facts.process) throw new PlaceTaken(own!.key)
  }

  /** Throws {@link AuthDiffers}. */
  refuseOtherAuth({ others }: SeenMembers): void {
    const other = others.flatMap((kv) => memberOf(kv) ?? []).find(({ auth }) => auth !== this.#facts.auth)
    if (other !== undefined) throw new AuthDiffers(this.#facts, other)
  }

  /** Throws {@link VersionsDiffer}. */
  refuseOtherVersions({ others }: SeenMembers): void {
    const { layouts, messages } = this.#facts.versions
    const other = others
      .flatMap((kv) => memberOf(kv) ?? [])
      .find(({ versions }) => !overlap(versions.layouts, layouts) || !overlap(versions.messages, messages))
    if (other !== undefined) throw new VersionsDiffer(this.#facts, other)
  }

  /** Takes the place, unless a member has joined or the layout has risen since: false. */
  async take(lease: bigint, { revision, store: { format } }: SeenMembers): Promise<boolean> {
    const prefix = this.#keys.every('member')
    const { succeeded } = await this.#client.txn({
      compare: [
        { key: prefix, end: prefixEnd(prefix), of: 'mod', is: '<', to: revision + 1 },
        unchanged(this.#formatKey, format),
      ],
      success: [{ do: 'put', key: this.#key, value: this.#value, lease }],
    })
    return succeeded
  }

  /** Takes the election if nobody is elected, or if this process replaces the elected member. */
  async stand(lease: bigint, seen: SeenMembers): Promise<void> {
    const { elected, term } = seen
    if (elected !== undefined && !this.#isPredecessor(elected, lease)) return
    const key = this.#keys.of({ of: 'elected' })
    const next = 1 + (readOrNone(TERM, term && Buffer.from(term.value).toString()) ?? 0)
    const won: Elected = { member: this.#id, term: next }
    const success: TxnOperation[] = [
      { do: 'put', key, value: recordValue(won), lease },
      { do: 'put', key: this.#termKey, value: Buffer.from(String(next)) },
    ]
    const own: KeyCondition = { key: this.#key, of: 'value', is: '=', to: this.#value }
    await this.#client.txn({
      compare: [own, unchanged(key, elected), unchanged(this.#termKey, term)],
      success,
    })
  }

  /**
   * An earlier process in this place was elected, and its lease has not ended yet; or no server holds the key, or has written
   * it. The key of this server names no other one.
   */
  #isPredecessor(elected: KeyValue, lease: bigint): boolean {
    const read = readOrNothing(() => readRecord(ELECTION.name, '', elected.value).value as Elected)
    if (elected.lease === 0n || read === undefined) return true
    return (elected.lease === lease) !== (read.member === this.#id)
  }

  get #key(): string {
    return this.#keys.of({ of: 'member', id: this.#id })
  }

  get #formatKey(): string {
    return this.#keys.of({ of: 'format' })
  }

  get #termKey(): string {
    return this.#keys.of({ of: 'remembered', name: TERM.name })
  }
}

/** The election is no command: it has no stamp. */
function recordValue(value: MemberFacts | Elected): Buffer {
  return toJson({ value, stamp: 0 })
}

function unchanged(key: string, seen: KeyValue | undefined): KeyCondition {
  return { key, of: 'mod', is: '=', to: seen?.modRevision ?? 0 }
}

function kvsOf(result: TxnOperationResult): readonly KeyValue[] {
  return result.did === 'range' ? result.kvs : []
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
