import { setTimeout as sleep } from 'node:timers/promises'
import type { Etcd } from '../../../support/etcd.ts'
import { isLong } from '../../fault-run.ts'
import { ask } from '../load/ask.ts'

/** A span of time. */
interface Span {
  readonly begunMs: number
  readonly endedMs: number
}

/**
 * etcd writes in some milliseconds. When it takes so long, the machine or etcd is at fault and not a server. The short form runs
 * on busy machines, where less is a sign of that.
 */
const SLOW_MS = isLong ? 400 : 150
const EACH_MS = 100
/** Requests that have waited for a slow etcd are refused so much later. */
const AFTERWARDS_MS = 1_000

/** Writes to etcd directly, past servers and gates, to know when etcd itself, or the machine, is too slow. */
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

  /** Whether etcd was slow at some time of a span, or shortly before. */
  wasSlow({ begunMs, endedMs }: Span): boolean {
    return this.slow.some((span) => span.begunMs < endedMs && span.endedMs + AFTERWARDS_MS > begunMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    const { endpoints } = this.#etcd
    const probes = endpoints.map(async (endpoint) => {
      while (!this.#isStopped) await this.#look(endpoint)
    })
    await Promise.all(probes)
  }

  /** A pause that takes too long shows that the machine is busy. */
  async #look(endpoint: string): Promise<void> {
    const begunMs = performance.now()
    await sleep(EACH_MS)
    const body = JSON.stringify({ key: 'cHJvYmU=', value: 'MQ==' })
    const reply = await ask(endpoint, { method: 'POST', path: '/v3/kv/put', body })
    const endedMs = performance.now()
    const isDone = reply.kind === 'answered' && reply.status === 200
    if (!isDone || endedMs - begunMs > EACH_MS + SLOW_MS) this.slow.push({ begunMs, endedMs })
  }
}
