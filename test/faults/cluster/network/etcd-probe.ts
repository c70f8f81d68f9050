import { setTimeout as sleep } from 'node:timers/promises'
import type { Etcd } from '../../../support/etcd.ts'
import { ask } from '../load/ask.ts'

/** A span of time. */
interface Span {
  readonly begunMs: number
  readonly endedMs: number
}

/** etcd writes in some milliseconds. When it takes so long, the machine or etcd is at fault and not a server. */
const SLOW_MS = 400
const EACH_MS = 100

/** Writes to etcd directly, past servers and gates, to know when etcd itself does not work. */
export class EtcdProbe {
  readonly #etcd: Etcd
  #isStopped = false
  readonly #running: Promise<void>
  /** When etcd was slow or did not answer. */
  readonly slow: Span[] = []

  constructor(etcd: Etcd) {
    this.#etcd = etcd
    this.#running = this.#run()
  }

  /** Whether etcd was slow at some time of a span. */
  wasSlow({ begunMs, endedMs }: Span): boolean {
    return this.slow.some((span) => span.begunMs < endedMs && span.endedMs > begunMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    const { endpoints } = this.#etcd
    const probes = endpoints.map(async (endpoint) => {
      while (!this.#isStopped) {
        await this.#write(endpoint)
        await sleep(EACH_MS)
      }
    })
    await Promise.all(probes)
  }

  async #write(endpoint: string): Promise<void> {
    const begunMs = performance.now()
    const body = JSON.stringify({ key: 'cHJvYmU=', value: 'MQ==' })
    const reply = await ask(endpoint, { method: 'POST', path: '/v3/kv/put', body })
    const endedMs = performance.now()
    const isDone = reply.kind === 'answered' && reply.status === 200
    if (!isDone || endedMs - begunMs > SLOW_MS) this.slow.push({ begunMs, endedMs })
  }
}
