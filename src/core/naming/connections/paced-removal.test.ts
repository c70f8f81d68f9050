import { expect, test } from 'vitest'
import { address, at, carryOut, EngineWorld, microtasks, ORDERS } from '../../core.test-support.ts'
import type { PublishedInstance } from '../commands/replace-instances.ts'
import type { ServiceKey } from '../state/service.ts'
import { ConnectionInstances } from './connection-instances.ts'
import { ORPHAN_MS } from '../liveness/connection-processes.ts'

const MOST_AT_ONCE = 3

function instance(port: number): PublishedInstance {
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
  return { address: address({ port }), ...rest }
}

/** A server whose turns of the loop the test takes. */
class PacedWorld extends EngineWorld {
  #turns: (() => void)[] = []
  /** Until when this process last stood still. */
  wokeMs = -Infinity
  readonly instances = new ConnectionInstances({
    state: this.state,
    processes: this.liveness.processes,
    engine: {
      mostAtOnce: MOST_AT_ONCE,
      execute: (command) => carryOut(this.state, command, at(this.nowMs)),
    },
    process: 'this',
    clock: { at: (ms) => ms, pausedSince: () => 0, stoodStillUntil: () => this.wokeMs },
    monotonicMs: () => this.nowMs,
    loop: { soon: (run) => void this.#turns.push(run) },
    canWrite: () => true,
    report: (error) => this.reports.push(String(error)),
  })

  constructor() {
    super(1_000, 'this')
  }

  get count(): number {
    return this.liveness.processes.instancesOf('this')
  }

  async publish(connectionId: string, serviceKey: ServiceKey, ports: number): Promise<void> {
    const instances = Array.from({ length: ports }, (_, port) => instance(port))
    const published = this.instances.publish({ serviceKey, connectionId, instances })
    await this.removals()
    await published
  }

  /** Takes a turn of the loop. Gives how many instances it has removed. */
  async takeTurn(): Promise<number> {
    const before = this.count
    for (const run of this.#turns.splice(0)) run()
    await microtasks()
    return before - this.count
  }

  /** How many instances each turn has removed, until nothing is left to do. */
  async removals(): Promise<number[]> {
    const removed: number[] = []
    await microtasks()
    while (this.#turns.length > 0) removed.push(await this.takeTurn())
    return removed
  }
}

test.each([
  ['when they end', false],
  ['when what was kept for a while goes', true],
])('a turn of the loop removes a bounded number of instances, %s', async (_, comesBack) => {
  const world = new PacedWorld()
  for (let index = 0; index < 20; index++)
    await world.publish('a', { ...ORDERS, groupedName: `G@@s${index}` }, 2)
  await world.publish('b', ORDERS, 10)
  expect(world.count).toBe(50)
  for (const id of ['a', 'b']) world.instances.release(id, { comesBack })
  if (comesBack) {
    world.nowMs += ORPHAN_MS + 1_000
    world.instances.tick()
  }
  const atOnce = 50 - world.count
  expect(world.instances.waiting).toBeGreaterThan(0)
  const removed = [atOnce, ...(await world.removals())]
  expect(Math.max(...removed)).toBeLessThanOrEqual(MOST_AT_ONCE)
  expect([world.count, world.instances.waiting, world.instances.registrations.size]).toEqual([0, 0, 0])
})

test('clients that close older connections just after this process stood still come back elsewhere: their instances stay', async () => {
  const world = new PacedWorld()
  const beganMs = world.nowMs
  for (const [index, id] of ['fled', 'ended', 'later'].entries())
    await world.publish(id, { ...ORDERS, groupedName: `G@@s${index}` }, 1)
  world.nowMs += 20_000
  world.wokeMs = world.nowMs - 9_000
  world.instances.release('fled', { comesBack: false, beganMs })
  world.instances.release('later', { comesBack: false, beganMs: world.wokeMs + 1 })
  expect(world.count).toBe(2)
  world.nowMs += 2_000
  world.instances.release('ended', { comesBack: false, beganMs })
  expect(world.count).toBe(1)
  world.nowMs += ORPHAN_MS
  world.instances.tick()
  await world.removals()
  expect([world.count, world.instances.registrations.size]).toEqual([0, 0])
})
