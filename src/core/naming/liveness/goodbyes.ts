import type { InstancePlace } from '../state/presence.ts'
import { type ServiceKey, serviceKeyText } from '../state/service.ts'

/** How long a deregistration counts against beats that are late, ms: a beat interval and a reserve. */
export const GOODBYE_MS = 10_000
/** The most addresses that are remembered; the oldest are forgotten first. */
const MOST = 100_000

interface Goodbye {
  readonly cluster: string
  readonly untilMs: number
  /** How often its client beats, ms; undefined: as the switch says. */
  readonly intervalMs: number | undefined
  /** Whether a late beat has come. */
  hasLateBeat: boolean
}

/** A beat that comes after a goodbye. `isFirst`: no other one has come. */
export interface LateBeat extends Pick<Goodbye, 'cluster' | 'intervalMs'> {
  readonly isFirst: boolean
}

/** The address of a beat. Without a cluster, the address in any cluster is meant. */
export interface BeatingAddress {
  readonly serviceKey: ServiceKey
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
}

/**
 * Addresses that were deregistered a moment ago by a client that beats. A beat of such a client may still be on its way,
 * and must not register what has said goodbye. Each server notes it when it applies the removal, and forgets it with a
 * restart: then beats must bring back what was lost. All times are health time.
 */
export class Goodbyes {
  /** In the order of their times, which all last equally long. */
  readonly #byAddress = new Map<string, readonly Goodbye[]>()

  get size(): number {
    return this.#byAddress.size
  }

  /** A client that beats has deregistered this place. */
  note({ serviceKey, address }: InstancePlace, intervalMs: number | undefined, nowMs: number): void {
    this.#forgetPast(nowMs)
    const text = textOf({ serviceKey, ...address })
    const { cluster } = address
    const others = this.#byAddress.get(text)?.filter((one) => one.cluster !== cluster) ?? []
    this.#byAddress.delete(text)
    this.#byAddress.set(text, [
      ...others,
      { cluster, untilMs: nowMs + GOODBYE_MS, intervalMs, hasLateBeat: false },
    ])
    const [oldest] = this.#byAddress.keys()
    if (this.#byAddress.size > MOST && oldest !== undefined) this.#byAddress.delete(oldest)
  }

  /** A registration ends what was said before. */
  lift({ serviceKey, address }: InstancePlace): void {
    const text = textOf({ serviceKey, ...address })
    const others = this.#byAddress.get(text)?.filter(({ cluster }) => cluster !== address.cluster)
    if (others === undefined) return
    if (others.length === 0) this.#byAddress.delete(text)
    else this.#byAddress.set(text, others)
  }

  /** A beat has come. Undefined: it comes after no goodbye, or that does not count any more. */
  heard(source: BeatingAddress, nowMs: number): LateBeat | undefined {
    if (this.#byAddress.size === 0) return undefined
    this.#forgetPast(nowMs)
    const { cluster } = source
    const goodbye = this.#byAddress
      .get(textOf(source))
      ?.find((one) => one.untilMs > nowMs && (cluster === undefined || cluster === one.cluster))
    if (goodbye === undefined) return undefined
    const isFirst = !goodbye.hasLateBeat
    goodbye.hasLateBeat = true
    return { cluster: goodbye.cluster, intervalMs: goodbye.intervalMs, isFirst }
  }

  #forgetPast(nowMs: number): void {
    for (const [text, goodbyes] of this.#byAddress) {
      if (goodbyes.at(-1)!.untilMs > nowMs) return
      this.#byAddress.delete(text)
    }
  }
}

function textOf({ serviceKey, ip, port }: Omit<BeatingAddress, 'cluster'>): string {
  return `${serviceKeyText(serviceKey)} ${ip}#${port}`
}
