import { contained } from '../../core/unexpected.ts'
import { DueBook, NOT_DUE, type Due } from '../../core/work/due-book.ts'
import type { PushCounts, PushPacket, PushTarget } from '../../core/clients/push-sender.ts'
import { SlicedWork, type Loop } from '../../core/work/sliced-work.ts'

/** How long an ack is waited for, after the push and again after it was sent once more (http-compat.md section 5). */
const ACK_WITHIN_MS = 10_000

/** Nothing here is in a hurry: a resend may be this much late. */
const BUCKET_MS = 500

/** Pushes whose acks are waited for at once, some 300 bytes each. Beyond, pushes are sent and not followed up. */
const MAX_AWAITED = 200_000

interface Delivery extends Due {
  readonly target: PushTarget
  readonly packet: PushPacket
  readonly sentMs: number
  /** Its first wait is over: it was sent again, or a newer push has taken its place. */
  second: boolean
  dueTick: number
}

/** Dependencies of deliveries. */
export interface DeliveryOptions {
  readonly loop: Loop
  readonly transmit: (target: PushTarget, packet: PushPacket) => void
  /** While false nothing is sent again. */
  readonly enabled: () => boolean
}

/**
 * Follows up pushes until their acks. Without an ack, a push is sent again after 10 s, unless there is a newer one.
 * Without an ack after 10 s more, the client cannot be reached, if nothing else came from it. An ack counts only from
 * the address to which the push was sent.
 */
export class PushDeliveries {
  readonly #options: DeliveryOptions
  readonly #awaited = new Map<string, Delivery>()
  readonly #due = new DueBook<Delivery>(BUCKET_MS)
  #overdue: Delivery[] = []
  readonly #work: SlicedWork
  readonly #counts = { sent: 0, acked: 0, resent: 0, failed: 0 }

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#work = new SlicedWork(options.loop, () => this.#step())
  }

  /** Sends a packet and waits for its ack. */
  send(target: PushTarget, packet: PushPacket): void {
    this.#counts.sent++
    target.newestRef = packet.lastRefTime
    this.#options.transmit(target, packet)
    if (this.#awaited.size >= MAX_AWAITED) return
    const sentMs = this.#options.loop.now()
    const delivery = { target, packet, sentMs, second: false, dueTick: NOT_DUE }
    this.#awaited.set(ackKey(packet.lastRefTime, target), delivery)
    this.#due.add(delivery, sentMs + ACK_WITHIN_MS)
  }

  /** An ack came; an unexpected one is ignored. */
  acked(lastRefTime: number, from: { address: string; port: number }): void {
    const key = ackKey(lastRefTime, from)
    const delivery = this.#awaited.get(key)
    if (delivery === undefined) return
    this.#awaited.delete(key)
    this.#due.remove(delivery)
    this.#counts.acked++
    delivery.target.lastAckMs = this.#options.loop.now()
    delivery.target.silentSinceMs = undefined
  }

  /** Looks after the pushes whose acks are overdue. */
  tick(nowMs: number): void {
    const due = this.#due.due(nowMs)
    if (due.length === 0) return
    // The earliest come last: `pop` takes them first.
    this.#overdue = due.reverse().concat(this.#overdue)
    this.#work.start()
  }

  /** How many acks are waited for. */
  get awaited(): number {
    return this.#awaited.size
  }

  counts(): PushCounts {
    return { ...this.#counts }
  }

  #step(): boolean {
    const delivery = this.#overdue.pop()
    if (delivery === undefined) return false
    contained(
      'push',
      () => this.#giveUp(delivery),
      () => this.#lookAt(delivery),
    )
    return true
  }

  #lookAt(delivery: Delivery): void {
    const { target, packet } = delivery
    // An ack may have come since it was found overdue.
    if (this.#awaited.get(ackKey(packet.lastRefTime, target)) !== delivery) return
    if (delivery.second || !target.subscribed) this.#giveUp(delivery)
    else this.#waitAgain(delivery)
  }

  #waitAgain(delivery: Delivery): void {
    const { target, packet } = delivery
    delivery.second = true
    if (target.newestRef === packet.lastRefTime && this.#options.enabled()) {
      this.#counts.resent++
      this.#options.transmit(target, packet)
    }
    this.#due.add(delivery, this.#options.loop.now() + ACK_WITHIN_MS)
  }

  #giveUp(delivery: Delivery): void {
    const { target, packet, sentMs } = delivery
    this.#awaited.delete(ackKey(packet.lastRefTime, target))
    this.#counts.failed++
    if (target.lastAckMs < sentMs) target.silentSinceMs = this.#options.loop.now()
  }
}

function ackKey(lastRefTime: number, place: { address: string; port: number }): string {
  return `${lastRefTime} ${place.address} ${place.port}`
}
