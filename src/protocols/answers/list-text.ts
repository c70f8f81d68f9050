import { createHash, type Hash } from 'node:crypto'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import type { LongText } from '../../core/text/long-text.ts'
import { groupOf, type ServiceKey, serviceKeyText } from '../../core/naming/state/service.ts'
import { ClientTurns } from '../../core/work/client-turns.ts'
import { type Loop, SlicedWork } from '../../core/work/sliced-work.ts'
import type { HostAtOnce, HostTexts } from './host-json.ts'
import { type ListFormat, listName, type WriteHost } from './list-format.ts'

/** The parts of a list. */
export interface ListPlan {
  readonly head: string
  readonly instances: readonly Instance[]
  /** Whether all are shown as healthy. */
  readonly protecting: boolean
  readonly write: WriteHost
  readonly texts: HostTexts
  readonly tail: ListTail
}

/** The fields after the hosts. */
export interface ListTail {
  readonly format: ListFormat
  readonly lastRefMs: number
  readonly protecting: boolean
  /** See `moreListFields`. */
  readonly more: string
}

/** Everything before the hosts; the words of the client are here alone. */
export function headText(query: {
  readonly key: ServiceKey
  readonly format: ListFormat
  readonly clustersText: string
  readonly cacheMillis: number
}): string {
  const { key, format, clustersText, cacheMillis } = query
  const name = JSON.stringify(listName(format, key.groupedName))
  const group = JSON.stringify(groupOf(key.groupedName))
  const clusters = JSON.stringify(clustersText)
  return `{"name":${name},"groupName":${group},"clusters":${clusters},"cacheMillis":${cacheMillis},"hosts":[`
}

/** The text after the hosts. `md5`: of the hosts' text; written as checksum in formats that have one. */
export function tailText(md5: () => string, { format, lastRefMs, protecting, more }: ListTail): string {
  // Clients of 3.x spell it allIps.
  const extra = format === 'grpc' ? '"checksum":"","allIps":false' : `"checksum":"${md5()}"`
  return (
    `],"lastRefTime":${lastRefMs},${extra},` +
    `"allIPs":false,"reachProtectionThreshold":${protecting},"valid":true${more}}`
  )
}

/** How many hosts are written before the clock is checked again, and about how many characters. */
const HOSTS_AT_ONCE = 100
const CHARACTERS_AT_ONCE = 64 * 1024

/** A list that waits for its turn. */
interface WaitingList {
  /** Called when the turn comes, so that a waiting list needs no copy of its hosts. */
  readonly plan: () => ListPlan
  readonly mostBytes: number
  readonly resolve: (text: LongText | undefined) => void
  readonly reject: (error: Error) => void
}

/**
 * Writes long lists over several turns of the event loop, one after the other. A hundred lists at the same
 * time would each take a slice of every turn, and memory for its hosts. Services take turns, because nobody asks for a list
 * that is pushed. A service whose list depends on the client may have a list for each client.
 */
export class ListTextWriter {
  readonly #work: SlicedWork
  readonly #waiting = new ClientTurns<WaitingList>()
  #current: (WaitingList & { readonly list: SlicedList }) | undefined

  constructor(loop: Loop) {
    this.#work = new SlicedWork(loop, () => this.#step())
  }

  /**
   * Writes a list of a service. `plan` is called when its turn comes; later changes do not count. Undefined if the text has
   * more than `mostBytes`; it is written no further then.
   */
  write(key: ServiceKey, plan: () => ListPlan, mostBytes: number): Promise<LongText | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(serviceKeyText(key), { plan, mostBytes, resolve, reject })
      this.#work.start()
    })
  }

  #step(): boolean {
    const one = this.#current ?? this.#waiting.next()?.thing
    if (one === undefined) return false
    try {
      const list = this.#current?.list ?? new SlicedList(one.plan())
      const isWritten = list.step()
      const isTooLong = list.bytes > one.mostBytes
      this.#current = isWritten || isTooLong ? undefined : { ...one, list }
      if (this.#current === undefined) one.resolve(isTooLong ? undefined : list.text)
    } catch (error) {
      this.#current = undefined
      one.reject(error instanceof Error ? error : new Error(String(error)))
    }
    return true
  }
}

/** A list that is being written. */
class SlicedList {
  readonly text: LongText
  bytes: number
  readonly #plan: ListPlan
  readonly #hosts: readonly HostAtOnce[]
  readonly #md5: Hash = createHash('md5')
  readonly #rest: Buffer[] = []
  #written = 0

  constructor(plan: ListPlan) {
    this.#plan = plan
    this.#hosts = plan.instances.map(({ entry, record, metadata, healthy }) => {
      return { entry, record, metadata, healthy }
    })
    this.text = { head: Buffer.from(plan.head), rest: this.#rest }
    this.bytes = this.text.head.length
  }

  /** Writes a little more; true once the list is complete. */
  step(): boolean {
    this.#writeHosts()
    if (this.#written < this.#hosts.length) return false
    this.#add(tailText(() => this.#md5.digest('hex'), this.#plan.tail))
    return true
  }

  #writeHosts(): void {
    const { instances, protecting, write, texts } = this.#plan
    const end = Math.min(this.#written + HOSTS_AT_ONCE, this.#hosts.length)
    let text = ''
    for (; this.#written < end && text.length < CHARACTERS_AT_ONCE; this.#written++) {
      const host = this.#hosts[this.#written]!
      const healthy = protecting || host.healthy
      if (this.#written > 0) text += ','
      text += write(texts.textOf(instances[this.#written]!, host, healthy), healthy)
    }
    this.#md5.update(text)
    this.#add(text)
  }

  #add(text: string): void {
    const piece = Buffer.from(text)
    this.#rest.push(piece)
    this.bytes += piece.length
  }
}
