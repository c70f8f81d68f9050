import { createHash, type Hash } from 'node:crypto'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { groupOf, type ServiceKey } from '../../core/naming/state/service.ts'
import { type Loop, SlicedWork } from '../../core/work/sliced-work.ts'
import type { HostAtOnce, HostTexts } from './host-texts.ts'
import { type ListFormat, listName, type WriteHost } from './list-format.ts'

/** What a list is written from. */
export interface ListPlan {
  readonly head: string
  readonly instances: readonly Instance[]
  /** Whether all are shown as healthy. */
  readonly protecting: boolean
  readonly write: WriteHost
  readonly texts: HostTexts
  readonly tail: ListTail
}

/** What follows the hosts. */
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

/** Everything after the hosts. `md5` is that of their text: the checksum, where the format has one. */
export function tailText(md5: () => string, { format, lastRefMs, protecting, more }: ListTail): string {
  // Clients of 3.x spell it allIps.
  const extra = format === 'grpc' ? '"checksum":"","allIps":false' : `"checksum":"${md5()}"`
  return (
    `],"lastRefTime":${lastRefMs},${extra},` +
    `"allIPs":false,"reachProtectionThreshold":${protecting},"valid":true${more}}`
  )
}

/** How many hosts are written before the clock is checked again. */
const HOSTS_AT_ONCE = 100

/** A list that waits for its turn. */
interface WaitingList {
  /** Called when the turn comes: what is not written yet costs no copy of its hosts. */
  readonly plan: () => ListPlan
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: Error) => void
}

/**
 * Writes long lists over several turns of the event loop, one after the other. Of a hundred lists that are written at the same
 * time, each would take a slice of every turn and memory for its hosts.
 */
export class ListWriter {
  readonly #work: SlicedWork
  /** The next one last, and behind them those that have come since, the next one first. */
  #next: WaitingList[] = []
  #others: WaitingList[] = []
  #current: (WaitingList & { readonly list: SlicedList }) | undefined

  constructor(loop: Loop) {
    this.#work = new SlicedWork(loop, () => this.#step())
  }

  /** The list as `plan` says that it is when its turn comes. It says what was known then, whatever changes meanwhile. */
  write(plan: () => ListPlan): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#others.push({ plan, resolve, reject })
      this.#work.start()
    })
  }

  #step(): boolean {
    const one = this.#current ?? this.#following()
    if (one === undefined) return false
    try {
      const list = this.#current?.list ?? new SlicedList(one.plan())
      const body = list.step()
      this.#current = body === undefined ? { ...one, list } : undefined
      if (body !== undefined) one.resolve(body)
    } catch (error) {
      this.#current = undefined
      one.reject(error instanceof Error ? error : new Error(String(error)))
    }
    return true
  }

  #following(): WaitingList | undefined {
    if (this.#next.length === 0) {
      this.#next = this.#others.reverse()
      this.#others = []
    }
    return this.#next.pop()
  }
}

/** A list that is being written: first the hosts as parts, then the parts into the body. */
class SlicedList {
  readonly #plan: ListPlan
  readonly #hosts: readonly HostAtOnce[]
  readonly #md5: Hash = createHash('md5')
  readonly #parts: Buffer[] = []
  #bytes = 0
  #written = 0
  #body: Buffer | undefined
  #copied = 0
  #filled = 0

  constructor(plan: ListPlan) {
    this.#plan = plan
    this.#hosts = plan.instances.map(({ entry, record, metadata, healthy }) => {
      return { entry, record, metadata, healthy }
    })
    this.#add(plan.head)
  }

  /** Does a little more; gives the list once it is complete. */
  step(): Buffer | undefined {
    if (this.#written < this.#hosts.length) this.#writeHosts()
    else if (this.#body === undefined) this.#allocate()
    else this.#copyPart(this.#body)
    return this.#copied === this.#parts.length ? this.#body : undefined
  }

  #writeHosts(): void {
    const { instances, protecting, write, texts } = this.#plan
    const end = Math.min(this.#written + HOSTS_AT_ONCE, this.#hosts.length)
    let text = ''
    for (let at = this.#written; at < end; at++) {
      const host = this.#hosts[at]!
      const healthy = protecting || host.healthy
      if (at > 0) text += ','
      text += write(texts.textOf(instances[at]!, host, healthy), healthy)
    }
    this.#written = end
    this.#md5.update(text)
    this.#add(text)
  }

  #allocate(): void {
    this.#add(tailText(() => this.#md5.digest('hex'), this.#plan.tail))
    this.#body = Buffer.allocUnsafe(this.#bytes)
  }

  #copyPart(body: Buffer): void {
    const part = this.#parts[this.#copied++]!
    this.#filled += part.copy(body, this.#filled)
  }

  #add(text: string): void {
    const part = Buffer.from(text)
    this.#parts.push(part)
    this.#bytes += part.length
  }
}
