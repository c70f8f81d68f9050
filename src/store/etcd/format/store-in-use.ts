import { MEMBER, type MemberFacts } from '../../../core/cluster/members/member-records.ts'
import { FIRST_RELEASED, includes, type VersionRange } from '../../../core/cluster/members/versions.ts'
import type { Revision } from '../../../core/engine/ports.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { KeyCondition, KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import type { TxnGuard } from '@waypost/etcd-client/txn-guard'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import type { Keys } from '../keys/keys.ts'
import { readRecord } from '../keys/read-values.ts'
import {
  INSTALLATION,
  installationBytes,
  type InstallationName,
  isSameOrNext,
  nameIn,
  newInstallation,
  readInstallation,
} from '../keys/installation-name.ts'
import { canFollow, isCopy, LAYOUTS, readLayout } from './layout.ts'
import { refuseMissingFormat } from './missing-format.ts'
import { refuseNested } from './nested-prefixes.ts'
import { readsOfStore, type SeenStore, seenIn } from './seen-store.ts'
import { EMPTY_ADVICE, noticeBytes, readNotice, STORE_EMPTY, StoreEmpty } from './store-empty.ts'

/** The dependencies of `StoreInUse`. */
export interface StoreInUseParts {
  readonly client: Pick<EtcdClient, 'txn' | 'range' | 'pages'>
  readonly keys: Keys
  /** The layouts that this server reads and writes; by default {@link LAYOUTS}. */
  readonly understood?: VersionRange | undefined
  /** Names this server where it misses the data; absent: it tells nobody. */
  readonly member?: string | undefined
  /** Waits until servers that know more would have said so, before the first start in an etcd with few revisions. */
  readonly waitForOthers?: (() => Promise<void>) | undefined
  readonly watched?: StoreInUseWatch | undefined
}

/** Is called with the course of things. */
export interface StoreInUseWatch {
  /** The data are missing, or are of another installation. Called once, and when the reason is another one. */
  readonly missed: (error: StoreEmpty) => void
  /** The data are there again. */
  readonly found: () => void
  /** A key that is always there was missing, and is written again. */
  readonly mended: (key: string) => void
}

/** An etcd that lost its data has few revisions. */
const FEW_REVISIONS = 1_000
/** Characters of a damaged value that a message shows. */
const SHOWN = 40
const MOST_TRIES = 5
/** The first layout in which an installation has a name. */
const NAMED_SINCE = FIRST_RELEASED

/**
 * The store that this server has seen: the layout of its data, and the installation that they belong to. Keys that it has seen once
 * cannot be gone. If they are, the server believes nothing and writes nothing, until an operator has mended it
 * (docs/decisions/0071). The layout is a key that only rises (docs/decisions/0053).
 */
export class StoreInUse {
  readonly #parts: StoreInUseParts
  readonly #formatKey: string
  readonly #nameKey: string
  readonly #noticeKey: string
  readonly #understood: VersionRange
  readonly #reads: readonly TxnOperation[]
  #current = 0
  /** The text of the layout; undefined: nothing was seen yet. */
  #format: string | undefined
  #name: InstallationName | undefined
  /** The bytes that name it in etcd; undefined: the key is missing. */
  #nameBytes: Uint8Array | undefined
  #notice: KeyValue | undefined
  #missing: StoreEmpty | undefined
  /** Called when the data must be loaded again before they can be used. */
  whenMissed: (error: StoreEmpty) => void = () => undefined

  constructor(parts: StoreInUseParts) {
    const { keys, understood = LAYOUTS, member } = parts
    this.#parts = parts
    this.#formatKey = keys.of({ of: 'format' })
    this.#nameKey = keys.of({ of: 'remembered', name: INSTALLATION })
    this.#noticeKey = keys.of({ of: 'remembered', name: STORE_EMPTY })
    this.#understood = understood
    this.#reads = readsOfStore(keys, member)
  }

  /** The layout in use, as this server has seen it last; 0: not yet. */
  get current(): number {
    return this.#current
  }

  /** The id of the installation; undefined: it has no name yet. */
  get installation(): string | undefined {
    return this.#name?.id
  }

  /** Why the data cannot be believed; undefined: they can. */
  get missing(): StoreEmpty | undefined {
    return this.#missing
  }

  /** Throws {@link StoreEmpty} while the data cannot be believed. */
  refuse(): void {
    if (this.#missing !== undefined) throw this.#missing
  }

  /** Each change compares that the store is the one that was seen. */
  get guard(): TxnGuard {
    return {
      compare: () => this.#conditions(),
      reads: this.#reads,
      judge: (results) => this.saw(seenIn(results)),
    }
  }

  /**
   * Notes the layout in an empty store, the oldest that this server writes, and names the installation. Throws
   * `UnknownLayout`, `NestedPrefix`, `MissingFormat`, and {@link StoreEmpty} if a server misses data here.
   */
  async begin(): Promise<void> {
    const { client, keys, waitForOthers } = this.#parts
    for (let tries = 1; ; tries++) {
      const revision = await this.look()
      if (this.#format !== undefined) return
      if (tries === 1) {
        await refuseNested(client, keys)
        await refuseMissingFormat(client, keys)
        if (waitForOthers !== undefined && revision < FEW_REVISIONS) await waitForOthers()
      }
      try {
        await this.#create()
      } catch (error) {
        // The next look finds out.
        const isInDoubt = error instanceof EtcdError && error.inDoubt
        if (!isInDoubt || tries === MOST_TRIES) throw error
      }
    }
  }

  /** Reads all again, with the revision at which everything can be loaded. Throws `UnknownLayout`, and {@link StoreEmpty}. */
  async look(): Promise<Revision> {
    const { revision, results } = await this.#parts.client.txn({ compare: [], success: this.#reads })
    this.saw(seenIn(results))
    return revision
  }

  /** Takes the keys that etcd has, at any time. Throws as {@link look} does. */
  saw(seen: SeenStore): void {
    const fault = this.#format === undefined ? this.#faultAtStart(seen) : this.#fault(seen)
    if (fault !== undefined) {
      if (this.#format === undefined) throw fault
      if (seen.format === undefined && seen.notice === undefined) this.#tell()
      throw this.#missed(fault)
    }
    if (seen.format === undefined) return
    this.#format = textOf(seen.format)
    this.#current = readLayout(this.#formatKey, this.#format, this.#understood)
    this.#named(seen.installation)
    this.#notice = seen.notice
  }

  /** The next revision. Throws `UnknownLayout` or {@link StoreEmpty}: then it must not be applied. */
  readonly follow = (events: readonly KeyChange[]): void => {
    for (const event of events) {
      const { key } = event.kind === 'put' ? event.kv : event
      const kv = event.kind === 'put' ? event.kv : undefined
      if (key === this.#formatKey) this.#followFormat(kv)
      else if (key === this.#nameKey) this.#followName(kv)
    }
  }

  /** Everything was loaded: the store can be used again. */
  loaded(): void {
    const wasMissing = this.#missing !== undefined
    this.#missing = undefined
    if (wasMissing) this.#parts.watched?.found()
    // If etcd is away, `care` tries again.
    void this.#removeNotice().catch(() => undefined)
  }

  /**
   * Names an installation that has no name, and removes the notice of missing data once they are there. Call it once a
   * second. Each server writes a name again that it has seen. The elected server makes a new one, once all members
   * understand the layout.
   */
  async care(isElected: boolean): Promise<void> {
    if (this.#missing === undefined) await this.#removeNotice()
    if (this.#isNamed() || this.#missing !== undefined || this.#format === undefined) return
    const known = this.#name
    if (known === undefined && !isElected) return
    const { client, keys } = this.#parts
    const members = { key: keys.every('member'), end: `${keys.every('member').slice(0, -1)}0` }
    const read = await client.txn({ compare: [], success: [...this.#reads, { do: 'range', ...members }] })
    const seen = seenIn(read.results.slice(0, -1))
    this.saw(seen)
    const found = read.results.at(-1)
    if (this.#isNamed() || found?.did !== 'range' || !found.kvs.every(understands)) return
    const bytes = installationBytes(known ?? newInstallation('start'))
    const { succeeded } = await client.txn({
      compare: [
        { key: this.#formatKey, of: 'value', is: '=', to: Buffer.from(this.#format) },
        { key: this.#nameKey, of: 'mod', is: '=', to: seen.installation?.modRevision ?? 0 },
        { ...members, of: 'mod', is: '<', to: read.revision + 1 },
      ],
      success: [{ do: 'put', key: this.#nameKey, value: bytes }],
      isUnguarded: true,
    })
    if (!succeeded) return
    this.#name ??= readInstallation(bytes)
    this.#nameBytes = bytes
    if (known !== undefined) this.#parts.watched?.mended(this.#nameKey)
  }

  #isNamed(): boolean {
    return this.#nameBytes !== undefined
  }

  #conditions(): KeyCondition[] {
    this.refuse()
    if (this.#format === undefined) return []
    const format: KeyCondition = {
      key: this.#formatKey,
      of: 'value',
      is: '=',
      to: Buffer.from(this.#format),
    }
    if (this.#nameBytes === undefined) return [format]
    return [format, { key: this.#nameKey, of: 'value', is: '=', to: this.#nameBytes }]
  }

  async #create(): Promise<void> {
    const absent = (key: string): KeyCondition => ({ key, of: 'create', is: '=', to: 0 })
    await this.#parts.client.txn({
      compare: [absent(this.#formatKey), absent(this.#nameKey), absent(this.#noticeKey)],
      success: [
        { do: 'put', key: this.#formatKey, value: Buffer.from(String(this.#understood.from)) },
        { do: 'put', key: this.#nameKey, value: installationBytes(newInstallation('start')) },
      ],
    })
  }

  #faultAtStart({ format, installation, notice }: SeenStore): StoreEmpty | undefined {
    const name = nameIn(installation)
    if (notice !== undefined) {
      const { installation: missed, member, layout } = readNotice(notice.value)
      const isOver =
        format !== undefined && (missed === null || (name !== undefined && isSameOrNext(missed, name)))
      if (!isOver) {
        const lost = format === undefined ? layout : ''
        return this.#atStart(`the server ${member} has seen data here, and misses them`, lost)
      }
    }
    if (format === undefined && installation !== undefined)
      return this.#atStart(`the key ${this.#formatKey} is missing, and an installation has been here`)
    return undefined
  }

  /** `layout`: the lost layout, if a server knows it. */
  #atStart(why: string, layout = ''): StoreEmpty {
    const key = this.#formatKey
    const back =
      layout === ''
        ? ''
        : ` If only the key ${key} is missing, \`etcdctl put ${key} ${layout}\` puts it back.`
    return new StoreEmpty(
      `etcd has lost data of the prefix ${this.#parts.keys.prefix}: ${why}. Nothing is begun there. ${EMPTY_ADVICE}${back}`,
    )
  }

  /** Why this is not the store that was seen. */
  #fault({ format, installation, isUsed }: SeenStore): StoreEmpty | undefined {
    const fault = this.#faultOfFormat(format)
    if (fault !== undefined || this.#name === undefined) return fault
    const found = nameIn(installation)
    // Only the name is lost, or damaged: something else that only this installation has is there.
    if (found === undefined && isUsed) return undefined
    return found !== undefined && isSameOrNext(this.#name.id, found) ? undefined : this.#isOther(found?.id)
  }

  /** Why the data below this layout are not believed. A later layout ends the server instead. */
  #faultOfFormat(format: KeyValue | undefined): StoreEmpty | undefined {
    if (format === undefined) return this.#isGone()
    const text = textOf(format)
    if (canFollow(text, this.#understood)) return undefined
    return isCopy(text) ? this.#isFilled() : this.#isNoLayout(text)
  }

  #isNoLayout(text: string): StoreEmpty {
    const key = this.#formatKey
    return new StoreEmpty(
      `The key ${key} of etcd is damaged: it has ${JSON.stringify(text.slice(0, SHOWN))}, which is no layout of this installation.`,
      `Put its layout back: \`etcdctl put ${key} ${this.#format}\`.`,
    )
  }

  #isGone(): StoreEmpty {
    return new StoreEmpty(
      `etcd has lost the data of this installation: the key ${this.#formatKey} is missing.`,
    )
  }

  #isFilled(): StoreEmpty {
    return new StoreEmpty(
      `etcd has lost the data of this installation, and a copy fills the prefix ${this.#parts.keys.prefix}.`,
    )
  }

  #isOther(id: string | undefined): StoreEmpty {
    const { prefix } = this.#parts.keys
    const other = id === undefined ? 'an installation without a name' : `the installation ${id}`
    return new StoreEmpty(`etcd has ${other} under the prefix ${prefix}, in place of ${this.#name?.id}.`)
  }

  #missed(error: StoreEmpty): StoreEmpty {
    if (this.#missing?.fact === error.fact) return this.#missing
    this.#missing = error
    this.#parts.watched?.missed(error)
    this.whenMissed(error)
    return error
  }

  #followFormat(format: KeyValue | undefined): void {
    const fault = this.#faultOfFormat(format)
    if (fault !== undefined) throw this.#missed(fault)
    this.#format = textOf(format!)
    this.#current = readLayout(this.#formatKey, this.#format, this.#understood)
  }

  #followName(installation: KeyValue | undefined): void {
    const found = nameIn(installation)
    if (found === undefined || this.#name === undefined || found.id === this.#name.id)
      return this.#named(installation)
    // It is loaded again, and judged then.
    throw new EtcdError('unavailable', `etcd has another installation now: ${found.id}`)
  }

  #named(installation: KeyValue | undefined): void {
    const found = nameIn(installation)
    this.#nameBytes = found && installation && Buffer.from(installation.value)
    this.#name = found ?? this.#name
  }

  /** Tells servers that start: without it they would begin a new installation. */
  #tell(): void {
    const { client, member } = this.#parts
    if (member === undefined) return
    const notice = { installation: this.#name?.id ?? null, member, layout: this.#format! }
    const absent = [this.#formatKey, this.#noticeKey].map((key): KeyCondition => ({
      key,
      of: 'create',
      is: '=',
      to: 0,
    }))
    const success = [{ do: 'put', key: this.#noticeKey, value: noticeBytes(notice) } as const]
    // The next look tries again.
    client.txn({ compare: absent, success, isUnguarded: true }).catch(() => undefined)
  }

  async #removeNotice(): Promise<void> {
    if (this.#notice === undefined) return
    const success = [{ do: 'delete', key: this.#noticeKey } as const]
    await this.#parts.client.txn({ compare: [], success })
    this.#notice = undefined
  }
}

function textOf({ value }: KeyValue): string {
  return Buffer.from(value).toString()
}

/** Whether a member understands the layout that has the name. No server has written a value that cannot be read. */
function understands({ key, value }: KeyValue): boolean {
  try {
    return includes((readRecord(MEMBER.name, key, value).value as MemberFacts).versions.layouts, NAMED_SINCE)
  } catch {
    return true
  }
}
