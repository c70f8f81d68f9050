import { constantFrom, integer, oneof, record, sample } from 'fast-check'
import { expect, test } from 'vitest'
import { anyCommand } from '../../src/core/command.test-support.ts'
import { address, ORDERS, registration } from '../../src/core/core.test-support.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { SoleEngine } from '../../src/core/engine/sole-engine.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { Stamps, type Now } from '../../src/core/decisions/stamps.ts'
import type { State } from '../../src/core/engine/state.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { temporaryDirectory } from '../support/waypost.ts'

const RESTARTS = 6
const COMMANDS = 120
const QUIET = { info: () => {}, warn: () => {}, error: () => {} }

const place = integer({ min: 1, max: 30 }).map((port) => address({ port }))
/** Many instances of both kinds in one service, so that durable and later changes mix; and everything else. */
const command = oneof(
  { weight: 3, arbitrary: anyCommand },
  {
    weight: 4,
    arbitrary: record({
      address: place,
      ephemeral: constantFrom(true, true, true, false),
      app: constantFrom('a', 'b'),
    }).map((other) => registerInstance(registration({ serviceKey: ORDERS, ...other }))),
  },
  {
    weight: 2,
    arbitrary: place.map((at) =>
      deregisterInstance({ serviceKey: ORDERS, address: at, ephemeral: undefined }),
    ),
  },
)

/** Everything that answers are made of, with the hosts of each service in their order. */
function knownOf(state: State): unknown {
  const services = [...state.services.all()].map(({ service, instances }) => ({
    service,
    hosts: [...instances.values()].map(({ record: of, metadata }) => ({ ...of, metadata })),
  }))
  const configs = ['public', 'dev'].flatMap((id) => [...state.configs.inNamespace(id)])
  return { services: services.sort((a, b) => a.service.serial - b.service.serial), configs }
}

/** The expiry of two instances, also of instances that a pending command changes. */
function expiryOf(state: State, stamp: number): Change[] {
  const expired = [...state.instances(ORDERS)].filter((one) => one.record.ephemeral).slice(0, 2)
  return expired.map(({ record: { address: at, serial } }) => {
    return { kind: 'instance-removed', serviceKey: ORDERS, address: at, serial, reason: 'expired', stamp }
  })
}

test.each([1, 23, 24, 34])(
  'a server that restarts knows the same, in the same order (seed %i)',
  async (seed) => {
    const directory = temporaryDirectory('restarts-')
    let before: unknown
    for (let round = 0; round < RESTARTS; round++) {
      const store = await openEmbeddedStore({ directory, log: QUIET })
      const stamps = new Stamps()
      let ms = 1_795_000_000_000 + round * 1_000
      const clock = (): Now => ({ wallMs: ++ms, healthMs: ms, stamp: stamps.next(ms) })
      const feed = { publishChanges: () => {} }
      const follower = Follower.load(await store.load(), { clock, stamps, feed })
      if (before !== undefined) expect(knownOf(follower.state)).toEqual(before)
      const loop = { now: () => performance.now(), soon: setImmediate }
      const mostBehind = [1, 3, 1_000][seed % 3] ?? 1
      const engine = new SoleEngine({ follower, store, clock, loop, report: () => {}, mostBehind })
      const answers: unknown[] = []
      for (const [number, one] of sample(command, {
        numRuns: COMMANDS,
        seed: seed * 100 + round,
      }).entries()) {
        try {
          const answer = engine.execute(one)
          // Some commands are refused before all answers are waited for.
          if (answer instanceof Promise) answers.push(answer.catch(() => undefined))
        } catch {
          // A refusal.
        }
        if (number % 5 === 0) engine.tick()
        if (number % 13 === 0) engine.applyBehind(expiryOf(follower.state, clock().stamp))
        // Some commits end between the commands.
        if (number % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.all(answers)
      await engine.close()
      before = knownOf(follower.state)
      await store.close()
    }
  },
)
