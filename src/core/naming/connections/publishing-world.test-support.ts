import { address, at, carryOut, EngineWorld, microtasks, ORDERS } from '../../core.test-support.ts'
import type { Command } from '../../decisions/decision.ts'
import { Refusal } from '../../refusal.ts'
import { ConnectionInstances } from './connection-instances.ts'
import type { PublishedInstance } from '../commands/replace-instances.ts'

/** An instance at this port. */
export function instance(port: number, other: Partial<PublishedInstance> = {}): PublishedInstance {
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
  return { address: address({ port }), ...rest, ...other }
}

/** A server whose store may be away, or answer late. */
export class PublishingWorld extends EngineWorld {
  isStoreAway = false
  canWrite = true
  pausedMs = 0
  executed = 0
  readonly late: (() => void)[] = []
  /** Whether commands are carried out only when the test says so. */
  isSlow = false
  readonly instances = new ConnectionInstances({
    state: this.state,
    processes: this.liveness.processes,
    engine: { mostAtOnce: 3, execute: (command) => this.#execute(command) },
    process: 'this',
    clock: { at: (ms) => ms, pausedSince: () => this.pausedMs, stoodStillUntil: () => -Infinity },
    monotonicMs: () => this.nowMs,
    loop: { soon: (run) => run() },
    canWrite: () => this.canWrite,
    report: (error) => this.reports.push(String(error)),
    whileLeaving: ({ cause }, run) => {
      this.leaving.push(cause)
      return run()
    },
    replaced: ({ replaced, by }) => this.replaced.push(`${replaced.port} by ${by.port}`),
  })
  readonly replaced: string[] = []
  /** Why instances left whose client asked for it. */
  readonly leaving: string[] = []

  constructor() {
    super(1_000, 'this')
  }

  publish(connectionId: string, ...ports: (number | PublishedInstance)[]) {
    const instances = ports.map((one) => (typeof one === 'number' ? instance(one) : one))
    return this.instances.publish({ serviceKey: ORDERS, connectionId, instances })
  }

  withdraw(connectionId: string) {
    return this.instances.withdraw({ serviceKey: ORDERS, connectionId })
  }

  /** The ports of the service, and the connection of each. */
  get ports(): Record<number, string> {
    const records = [...this.state.instances(ORDERS)].map(({ record }) => record)
    const ownerOf = (publisher: (typeof records)[0]['publisher']): string =>
      publisher.kind === 'connection' ? publisher.id : publisher.kind
    return Object.fromEntries(records.map(({ address: { port }, publisher }) => [port, ownerOf(publisher)]))
  }

  async pass(ms: number): Promise<void> {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs;) {
      this.nowMs += 250
      this.instances.tick()
      await microtasks()
    }
  }

  /** A slow store answers one command after the other, until all are answered. */
  async answersLate(): Promise<void> {
    for (let answer = this.late.shift(); answer !== undefined; answer = this.late.shift()) {
      answer()
      await microtasks()
    }
  }

  #execute<T>(command: Command<T>): T | Promise<T> {
    this.executed++
    if (this.isStoreAway) throw new Refusal('store-unavailable', 'away')
    if (!this.isSlow) return carryOut(this.state, command, at(this.nowMs))
    return new Promise((resolve) =>
      this.late.push(() => resolve(carryOut(this.state, command, at(this.nowMs)))),
    )
  }
}
