import { setTimeout as sleep } from 'node:timers/promises'
import { openGrpcWires } from './grpc-clients.ts'
import type { GrpcWire, Heard } from './grpc-wire.ts'
import type { GrpcCheckJob, GrpcListenJob, GrpcTellJob, GrpcToldResult } from './jobs.ts'
import { endOf } from './loads.ts'
import { requestPaths } from './paths.ts'
import { configContent, publishForm, requestText } from './request-text.ts'
import { Wire } from './wire.ts'

/** Clients ask for their health after so much silence. */
const CHECK_EVERY_MS = 5_000
const TICK_MS = 10
const LONGEST_MS = 20_000

/** Thousands of clients over gRPC that listen to one item, and a publisher. */
export class GrpcListeners {
  #wires: readonly GrpcWire[] = []
  #publisher: Wire | undefined
  #query = ''
  #expected = ''
  #toldMs = 0
  #have = new Set<GrpcWire>()
  #haveMs = 0

  /** Opens connections, each of which listens to an item that does not exist yet. */
  async listen({ base, connections, dataId }: GrpcListenJob): Promise<void> {
    const name = { dataId, group: 'DEFAULT_GROUP', tenant: '' }
    this.#query = JSON.stringify(name)
    this.#publisher = new Wire(endOf(base))
    await this.#publisher.open()
    this.#wires = await openGrpcWires(base, connections, (message, wire) => this.#heard(message, wire))
    const listening = JSON.stringify({ listen: true, configListenContexts: [{ ...name, md5: '' }] })
    for (const wire of this.#wires) await wire.ask('ConfigBatchListenRequest', listening)
  }

  /** Lets each connection ask for its health once in five seconds, for some time. */
  async check({ ms }: GrpcCheckJob): Promise<void> {
    const perTick = (this.#wires.length * TICK_MS) / CHECK_EVERY_MS
    const began = performance.now()
    let [checked, lost] = [0, 0]
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - began) {
      for (const due = (elapsedMs / TICK_MS) * perTick; checked < due; checked++)
        this.#wires[checked % this.#wires.length]!.ask('HealthCheckRequest', '{}').catch(() => lost++)
      await sleep(TICK_MS)
    }
    if (lost > 0) throw new Error(`${lost} of ${checked} health checks were not answered.`)
  }

  /** Publishes, and resolves when every connection has heard of it and has read the content. */
  async tell({ base, dataId, version }: GrpcTellJob): Promise<GrpcToldResult> {
    this.#expected = `"content":${JSON.stringify(configContent(version))}`
    this.#have = new Set()
    const form = publishForm(dataId, configContent(version))
    const began = performance.now()
    const text = requestText('POST', requestPaths(new URL(base).pathname).configs, form)
    const { status } = await this.#publisher!.ask(text)
    const publishMs = performance.now() - began
    if (status !== 200) throw new Error(`The publish was answered ${status}.`)
    while (this.#have.size < this.#wires.length && performance.now() < began + LONGEST_MS) await sleep(2)
    return { publishMs, toldMs: this.#toldMs - began, haveMs: this.#haveMs - began, have: this.#have.size }
  }

  #heard({ type }: Heard, wire: GrpcWire): void {
    if (type !== 'ConfigChangeNotifyRequest') return
    this.#toldMs = performance.now()
    const read = ({ body }: Heard): void => {
      if (!body.includes(this.#expected)) return
      this.#have.add(wire)
      this.#haveMs = performance.now()
    }
    // A connection without an answer does not have the content.
    wire.ask('ConfigQueryRequest', this.#query).then(read, () => undefined)
  }
}
