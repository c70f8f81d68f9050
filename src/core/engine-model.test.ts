import { array, assert, asyncProperty, constantFrom, oneof } from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from './changes.ts'
import { anyCommand } from './command.test-support.ts'
import { at, EngineWorld, microtasks } from './core.test-support.ts'
import type { Command } from './decision.ts'
import { addressText } from './naming/instance.ts'

type Event = 'turn' | 'tick' | 'succeed' | 'fail' | 'bad group' | 'sweep' | Command<unknown>

const events = array(
  oneof(
    { weight: 6, arbitrary: anyCommand },
    {
      weight: 5,
      arbitrary: constantFrom<Event>(
        'turn',
        'turn',
        'tick',
        'succeed',
        'succeed',
        'fail',
        'bad group',
        'sweep',
      ),
    },
  ),
  { maxLength: 60 },
)

async function happen(world: EngineWorld, event: Event, answers: Promise<unknown>[]): Promise<void> {
  if (typeof event === 'object') {
    try {
      const outcome = world.engine.execute(event)
      if (outcome instanceof Promise) answers.push(outcome.catch((error: unknown) => error))
    } catch {
      // A refusal.
    }
    return
  }
  if (event === 'turn') return world.turn()
  if (event === 'tick') return world.engine.tick()
  if (event === 'sweep') {
    world.nowMs += 16_000
    return world.engine.applyBehind(world.state.health.sweep(at(world.nowMs), () => true))
  }
  const [commit] = world.store.pending
  if (commit === undefined) return
  if (event === 'succeed') world.store.succeed()
  else if (event === 'fail') world.store.fail()
  else {
    // A record that is behind is left out when it is bad, which is not what is tested here.
    const group = commit.groups.findLastIndex((one) => !mayBeBehind(one))
    if (group === commit.groups.length - 1) world.store.refuseGroup(group)
    else world.store.fail()
  }
  await microtasks()
}

/** What is written behind is one record of naming each. */
function mayBeBehind(group: readonly Change[]): boolean {
  return group.length === 1 && /^(instance|service)-/.test(group[0]!.kind)
}

/** What a restart would find, in the words of what is known. */
function storedOf({ store }: EngineWorld): string[] {
  const rows = [...store.instances.values()].map(({ serviceSerial, record, healthy }) => {
    const service = store.services.get(serviceSerial)
    return `${service?.key.groupedName} ${addressText(record.address)} ${record.weight} ${healthy}`
  })
  return [
    ...[...store.services.values()].map(({ key, madeBy }) => `${key.groupedName} ${madeBy}`),
    ...rows,
  ].sort()
}

function knownOf({ state }: EngineWorld): string[] {
  return [...state.services.all()]
    .flatMap(({ service, instances }) => [
      `${service.key.groupedName} ${service.madeBy}`,
      ...[...instances.values()].map(
        ({ record, healthy }) =>
          `${service.key.groupedName} ${addressText(record.address)} ${record.weight} ${healthy}`,
      ),
    ])
    .sort()
}

test('however commands, commits and faults fall, all are answered and the disk has what is known in the end', async () => {
  await assert(
    asyncProperty(events, async (story) => {
      const world = new EngineWorld()
      const answers: Promise<unknown>[] = []
      for (const event of story) {
        await happen(world, event, answers)
        // Whatever is durable finds its service after a crash at any moment.
        for (const { serviceSerial, record } of world.store.instances.values()) {
          if (!record.ephemeral) expect(world.store.services.has(serviceSerial)).toBe(true)
        }
      }
      await world.quiet()
      await world.flush()
      await Promise.all(answers)
      expect(world.engine.backlog).toEqual({ behind: 0, waiting: 0 })
      // Health that a save leaves as it is stays as it was written before.
      expect(storedOf(world).map(withoutHealth)).toEqual(knownOf(world).map(withoutHealth))
    }),
    { numRuns: 300 },
  )
})

function withoutHealth(line: string): string {
  return line.replace(/ (true|false|undefined)$/, '')
}
