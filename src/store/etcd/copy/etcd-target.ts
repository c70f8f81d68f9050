import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import { SECRETS_KEY } from '../../../core/engine/remembered-values.ts'
import { historyIdOf, isItemId, stampOfId } from '../../../core/decisions/stamps.ts'
import { NotExaminable } from '../../local-file.ts'
import type { ShownRecord, StoredPart, StoredSource, StoredTarget, Sums } from '../../stored-data.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { KeyCondition, KeyRange, TxnOperation, TxnResult } from '@waypost/etcd-client/messages'
import { compareKeys } from '../keys/keys.ts'
import { chunksOf, mostInlineOf, partsOfValue } from '../contents/large-contents.ts'
import { refuseNested } from '../format/nested-prefixes.ts'
import { INSTALLATION, installationBytes, newInstallation } from '../keys/installation-name.ts'
import { copyIn, LAYOUTS, type UnderCopy } from '../format/layout.ts'
import { STORE_EMPTY } from '../format/store-empty.ts'
import { placeOfRecord } from '../keys/record-places.ts'
import { roomOf } from '../space/space.ts'
import type { ContentParts } from '../keys/stored-shapes.ts'
import { contentValue, entryOf, instanceValue, itemFacts, serviceValue, toJson } from '../keys/values.ts'
import { type EtcdPlace, rangeOf } from './etcd-source.ts'

/** The limits of one request: etcd takes 128 operations and 1.5 MiB. */
const MOST_OPERATIONS = 120
const MOST_BYTES = 1024 * 1024
/** Estimated bytes of a key besides its value. */
const KEY_BYTES = 200
/** Requests that are underway. Keys with a meaningful order are written one request after the other. */
const AT_ONCE = 6
const CALL_MS = 10_000
/** An etcd that is away for longer ends the copy, which can be continued. */
const AWAY_MS = 30_000
const AGAIN_MS = 250
/** The quota of an etcd that does not tell its own. */
const USUAL_QUOTA = 2 * 1024 * 1024 * 1024
/** The name of the copy, in place of a server's. */
const COPY = 'copy'

/** The key of the layout while a copy fills the store. It is written with each part. */
interface CopyState extends UnderCopy {
  /** Names this process: another process that continues the copy has another name. */
  readonly process: string
  readonly sums: Sums
}

type Put = Extract<TxnOperation, { do: 'put' }>

/**
 * Keys of etcd that a copy fills. Until it is finished, the key of the layout names the copy, so no server starts. Each
 * request compares that key, so requests of an earlier process of the same copy are not written any more.
 */
export class EtcdTarget implements StoredTarget {
  readonly place: string
  readonly written: Sums
  readonly #etcd: EtcdPlace
  readonly #source: Pick<StoredSource, 'largestStamp'>
  readonly #key: string
  #state: CopyState
  #value: Buffer

  private constructor(etcd: EtcdPlace, source: Pick<StoredSource, 'largestStamp'>, state: CopyState) {
    this.place = etcd.place
    this.#etcd = etcd
    this.#source = source
    this.#key = etcd.keys.of({ of: 'format' })
    this.#state = state
    this.#value = valueOf(state)
    this.written = state.sums
    // Secrets are sealed with the first key, if there is one.
    const [first] = etcd.sealing.ids
    etcd.sealing.writeWith(first)
  }

  /** Begins or continues a copy of this source. Throws NotExaminable if another store is there, or too little room. */
  static async begin(etcd: EtcdPlace, source: StoredSource): Promise<EtcdTarget> {
    const { client, keys, place } = etcd
    await client.checkVersions()
    const key = keys.of({ of: 'format' })
    const { kvs } = await client.range({ key })
    const text = kvs[0] && Buffer.from(kvs[0].value)
    const begun = text && (copyIn(key, text.toString()) as CopyState | undefined)
    const count = await countBesides(etcd)
    if (begun === undefined && count > 0)
      throw new NotExaminable(
        `There is something in ${place} already (${count} keys). Choose another prefix, or remove them.`,
      )
    if (begun !== undefined && (begun.source !== source.place || begun.revision !== source.revision))
      throw new NotExaminable(
        `${place} is half filled by a copy of ${begun.source} at revision ${begun.revision}. Continue that one, or remove the keys.`,
      )
    if (begun === undefined) {
      await refuseNested(client, keys)
      await refuseWithoutRoom(etcd, source)
    }
    const state = {
      source: source.place,
      revision: source.revision,
      process: randomUUID(),
      sums: begun?.sums ?? {},
    }
    const target = new EtcdTarget(etcd, source, state)
    const conditions: KeyCondition[] =
      text === undefined
        ? besidesNotice(etcd).map((range) => ({ ...range, of: 'create', is: '=', to: 0 }))
        : [{ key, of: 'value', is: '=', to: text }]
    await target.#replace(conditions, [{ do: 'put', key, value: target.#value }])
    return target
  }

  skip(): void {
    // The key of the layout has the sums of the written parts.
  }

  async write(part: StoredPart, sums: Sums): Promise<void> {
    const requests = isOrdered(part) ? risingRequests(this.#putsOf(part)) : requestsOf(this.#putsOf(part))
    const waiting = requests.values()
    const lane = async (): Promise<void> => {
      for (const puts of waiting) await this.#put(puts)
    }
    await Promise.all(Array.from({ length: isOrdered(part) ? 1 : AT_ONCE }, lane))
    const state = { ...this.#state, sums }
    await this.#replace([this.#unchanged()], [{ do: 'put', key: this.#key, value: valueOf(state) }])
    this.#state = state
    this.#value = valueOf(state)
  }

  async complete(): Promise<void> {
    const { keys } = this.#etcd
    // Later stamps are larger than all stamps of the source, also than stamps of data removed there.
    const last = { number: 0, process: this.#state.process, stamp: this.#source.largestStamp }
    await this.#put([put(keys.of({ of: 'request', id: COPY }), toJson(last))])
  }

  async release(): Promise<void> {
    const { keys, sealing } = this.#etcd
    const { writesWith } = sealing
    if (writesWith !== undefined)
      await this.#put([put(keys.of({ of: 'remembered', name: SECRETS_KEY.name }), Buffer.from(writesWith))])
    // Servers that miss their data take these for theirs from now on.
    await this.#replace(
      [this.#unchanged()],
      [
        { do: 'put', key: this.#key, value: Buffer.from(String(LAYOUTS.from)) },
        put(keys.of({ of: 'remembered', name: INSTALLATION }), installationBytes(newInstallation('copy'))),
        { do: 'delete', key: keys.of({ of: 'remembered', name: STORE_EMPTY }) },
      ],
    )
  }

  close(): void {
    // The caller closes the client that it has opened.
  }

  #putsOf(part: StoredPart): Put[] {
    const { keys } = this.#etcd
    const stamp = this.#source.largestStamp
    switch (part.of) {
      case 'values':
        return part.all.map(({ name, value }) => put(keys.of({ of: 'remembered', name }), Buffer.from(value)))
      case 'records':
        return part.all.flatMap((record) => {
          const json = toJson(record.value)
          const parts = partsOfValue(record, json)
          const value = parts === undefined ? { value: record.value, stamp } : { parts, stamp }
          return [...this.#chunkPuts(json, parts), put(keys.of(placeOfRecord(record)), toJson(value))]
        })
      case 'services':
        return part.all.map((service) =>
          put(keys.of({ of: 'service', service: service.key }), serviceValue(service, stamp)),
        )
      case 'instances':
        return part.all.map(
          ({ serviceKey: service, record: { address, serial: _serial, ...record }, healthy }) =>
            put(
              keys.of({ of: 'instance', service, address }),
              instanceValue(address, { record, healthy, beat: false, stamp }),
            ),
        )
      case 'items':
        return part.all.flatMap((item) => this.#itemPuts(item))
      case 'history':
        return onePerKey(part.all.flatMap((shown) => this.#recordPuts(shown)))
      case 'audit':
        return part.all.map((event) => {
          const isRefused = event.result !== 'done'
          return put(keys.of({ of: 'audit', stamp: event.id, isRefused, member: COPY }), toJson(event))
        })
    }
  }

  #itemPuts(item: ConfigItem): Put[] {
    const { content } = item
    const parts = partsOf(item.key, content, item.historyId)
    const key = this.#etcd.keys.of({ of: 'config', key: item.key })
    return [
      ...this.#chunkPuts(content, parts),
      put(key, contentValue({ facts: itemFacts(item), content, parts })),
    ]
  }

  #recordPuts({ record: { content, ...facts }, versionId }: ShownRecord): Put[] {
    const { keys } = this.#etcd
    const stamp = stampOfId(facts.id)
    const parts = partsOf(facts.key, content, versionId ?? facts.id)
    return [
      ...this.#chunkPuts(content, parts),
      put(keys.of({ of: 'record-text', stamp }), contentValue({ facts, content, parts })),
      put(keys.of({ of: 'history', key: facts.key, stamp }), toJson(entryOf(facts, content))),
    ]
  }

  #chunkPuts(content: Buffer, parts: ContentParts | undefined): Put[] {
    if (parts === undefined) return []
    const { keys } = this.#etcd
    const { stamp } = parts
    return [
      ...chunksOf(content).map((chunk, index) => put(keys.of({ of: 'chunk', stamp, index }), chunk)),
      put(keys.of({ of: 'named-chunks', stamp }), toJson(COPY)),
    ]
  }

  #unchanged(): KeyCondition {
    return { key: this.#key, of: 'value', is: '=', to: this.#value }
  }

  async #put(success: readonly Put[]): Promise<void> {
    const { succeeded } = await this.#sent(() =>
      this.#etcd.client.txn({ compare: [this.#unchanged()], success }, CALL_MS),
    )
    if (!succeeded) throw takenOver(this.place)
  }

  /** Sets the key of the layout first. If an answer was lost, the second request finds the value of the first. */
  async #replace(
    compare: readonly KeyCondition[],
    success: readonly [Put, ...TxnOperation[]],
  ): Promise<void> {
    const [{ value }] = success
    const failure: TxnOperation[] = [{ do: 'range', key: this.#key }]
    const { succeeded, results } = await this.#sent(() =>
      this.#etcd.client.txn({ compare, success, failure }, CALL_MS),
    )
    const found = results[0]?.did === 'range' ? results[0].kvs[0] : undefined
    if (!succeeded && (found === undefined || !Buffer.from(value).equals(found.value)))
      throw takenOver(this.place)
  }

  /** All that is sent may be sent again. */
  async #sent(send: () => Promise<TxnResult>): Promise<TxnResult> {
    const untilMs = performance.now() + AWAY_MS
    for (;;)
      try {
        return await send()
      } catch (error) {
        const isAway = error instanceof EtcdError && error.kind === 'unavailable'
        if (!isAway || performance.now() > untilMs) throw error
        await sleep(AGAIN_MS)
      }
  }
}

/** The ranges of all keys but the notice of servers that miss their data. */
function besidesNotice({ keys, prefix }: EtcdPlace): KeyRange[] {
  const notice = keys.of({ of: 'remembered', name: STORE_EMPTY })
  return [
    { key: prefix, end: notice },
    { key: `${notice}\0`, end: rangeOf(prefix).end },
  ]
}

async function countBesides(etcd: EtcdPlace): Promise<number> {
  const counted = besidesNotice(etcd).map((range) => etcd.client.range({ ...range, countOnly: true }))
  return (await Promise.all(counted)).reduce((sum, { count }) => sum + count, 0)
}

function valueOf(copy: CopyState): Buffer {
  return toJson({ copy })
}

function takenOver(place: string): Error {
  return new Error(`Somebody else writes to ${place}: this copy has ended.`)
}

async function refuseWithoutRoom({ client, place }: EtcdPlace, { size }: StoredSource): Promise<void> {
  const members = (await client.status()).flatMap((one) => ('error' in one ? [] : [one]))
  const room = roomOf(members, { reserveBytes: 1, quotaBytes: USUAL_QUOTA })
  if (room === undefined || room.leftBytes > size.bytes) return
  const mib = (bytes: number): string => `${Math.max(0, Math.ceil(bytes / 1024 / 1024))} MiB`
  throw new NotExaminable(
    `The copy needs about ${mib(size.bytes)}, and ${place} has room for ${mib(room.leftBytes)}. ` +
      'Raise the quota of etcd (--quota-backend-bytes), or shorten the history first.',
  )
}

/** The place of a content: with its version. Ids of unknown versions are even. */
function partsOf(key: ConfigKey, content: Buffer, versionId: number): ContentParts | undefined {
  if (content.length <= mostInlineOf(key)) return undefined
  // Half a millisecond earlier, so that its chunks differ from the chunks of the next version.
  const id = isItemId(versionId) ? historyIdOf(stampOfId(versionId) - 512) : versionId
  return { stamp: stampOfId(id), count: chunksOf(content).length }
}

function put(key: string, value: Buffer): Put {
  return { do: 'put', key, value }
}

/** Whether a part is listed in the order of creation. */
function isOrdered({ of }: StoredPart): boolean {
  return of === 'records' || of === 'services' || of === 'instances' || of === 'items'
}

/** Two records may show the same large content. */
function onePerKey(puts: readonly Put[]): Put[] {
  return [...new Map(puts.map((one) => [one.key, one])).values()]
}

function requestsOf(
  puts: readonly Put[],
  mayFollow: (before: Put, next: Put) => boolean = () => true,
): Put[][] {
  const requests: Put[][] = []
  let request: Put[] = []
  let bytes = 0
  for (const one of puts) {
    const size = one.key.length + one.value.length + KEY_BYTES
    const before = request.at(-1)
    const isFull = request.length === MOST_OPERATIONS || bytes + size > MOST_BYTES
    if (before !== undefined && (isFull || !mayFollow(before, one))) {
      requests.push(request)
      request = []
      bytes = 0
    }
    request.push(one)
    bytes += size
  }
  if (request.length > 0) requests.push(request)
  return requests
}

/** Keys of one revision are listed by their names: a request ends before a name that would come earlier. */
function risingRequests(puts: readonly Put[]): Put[][] {
  return requestsOf(puts, (before, next) => compareKeys(before.key, next.key) < 0)
}
