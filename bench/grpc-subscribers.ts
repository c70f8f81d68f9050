import { setTimeout as sleep } from 'node:timers/promises'
import { openGrpcWires } from './grpc-clients.ts'
import type { GrpcWire, Heard } from './grpc-wire.ts'
import { Histogram } from './histogram.ts'
import type { GrpcPushJob, GrpcSubscribeJob, LoadResult } from './jobs.ts'
import { endOf } from './loads.ts'
import { requestPaths } from './paths.ts'
import { registerForm, requestText } from './request-text.ts'
import { Wire } from './wire.ts'

const LONGEST_MS = 20_000
/** By then each subscriber has had its first push. */
const FIRST_PUSH_MS = 1_500

/** Thousands of clients over gRPC that subscribe to one service, whose instances change. */
export class GrpcSubscribers {
  #wires: readonly GrpcWire[] = []
  #histogram = new Histogram()
  #beganMs = 0
  #missing = new Set<GrpcWire>()

  /** Opens connections, each of which subscribes to the first service of the set. */
  async subscribe({ base, set, subscribers }: GrpcSubscribeJob): Promise<void> {
    this.#wires = await openGrpcWires(base, subscribers, (message, wire) => this.#heard(message, wire))
    const service = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName: `${set.base}-0` }
    const subscription = JSON.stringify({ ...service, subscribe: true, clusters: '' })
    for (const wire of this.#wires) await wire.ask('SubscribeServiceRequest', subscription)
    await sleep(FIRST_PUSH_MS)
  }

  /** Changes one instance after the other. A latency starts with the change and ends when a subscriber has it. */
  async push({ base, set, first, changes, settleMs }: GrpcPushJob): Promise<LoadResult> {
    this.#histogram = new Histogram()
    const changer = new Wire(endOf(base))
    const paths = requestPaths(new URL(base).pathname)
    const began = performance.now()
    let failed = 0
    for (let change = first; change < first + changes; change++) {
      this.#missing = new Set(this.#wires)
      this.#beganMs = performance.now()
      const form = registerForm(set, change % set.count, change)
      const { status } = await changer.ask(requestText('POST', paths.instance, form))
      if (status !== 200) failed++
      while (this.#missing.size > 0 && performance.now() < this.#beganMs + LONGEST_MS) await sleep(5)
      failed += this.#missing.size
      this.#missing.clear()
      await sleep(settleMs)
    }
    changer.close()
    const { total: answered } = this.#histogram
    return {
      counts: this.#histogram.counts(),
      answered,
      failed,
      elapsedMs: performance.now() - began,
    }
  }

  #heard({ type }: Heard, wire: GrpcWire): void {
    if (type !== 'NotifySubscriberRequest' || !this.#missing.delete(wire)) return
    this.#histogram.add(performance.now() - this.#beganMs)
  }
}
