import { type Arbitrary, array, constantFrom, nat, oneof, record } from 'fast-check'
import { anyCommand } from '../../src/core/command.test-support.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import type { RequestFault } from '../../src/core/engine/model-access.test-support.ts'
import { anyOperation, PLACES, SERVICES } from './operations.ts'
import { NOTHING, type Planted } from './planted-faults.ts'
import { Violation } from './violation.ts'
import { type Conditions, World } from './world.ts'

/** Something that happens: a client asks, a fault, or simply what is next. */
export interface Happening<Of = World> {
  readonly title: string
  readonly run: (world: Of) => void | Promise<void>
}

/** The events of one simulation. fast-check makes it, and makes it shorter if it ends in a violation. */
export interface Story {
  readonly conditions: Conditions
  readonly happenings: readonly Happening[]
}

const server = nat(2)
const faults: RequestFault[] = ['unavailable', 'lost', 'bad unit']

const asking = record({ server, operation: anyOperation }).map((one) =>
  happening(`ask s${one.server}: ${one.operation.title}`, (world) => world.ask(one.server, one.operation)),
)
const beating = record({ server, service: constantFrom(...SERVICES), place: constantFrom(...PLACES) }).map(
  (one) => happening(`beat at s${one.server}`, (world) => world.beat(one.server, one.service, one.place)),
)
const progress = nat(11).map((dice) => happening(`progress ${dice}`, (world) => world.progress(dice)))

const mishap = oneof(
  record({ server, fault: constantFrom(...faults) }).map((one) =>
    happening(`${one.fault} at s${one.server}`, (world) => world.fault(one.server, one.fault)),
  ),
  server.map((index) => happening(`delay s${index}`, (world) => world.delay(index))),
  server.map((index) => happening(`crash s${index}`, (world) => world.crash(index))),
  server.map((index) => happening(`restart s${index}`, (world) => world.restart(index))),
  record({ server, isFrozen: constantFrom(true, false, false) }).map((one) =>
    happening(`freeze s${one.server} ${one.isFrozen}`, (world) => world.freeze(one.server, one.isFrozen)),
  ),
  server.map((index) => happening(`reload s${index}`, (world) => world.reload(index))),
)
const HOUR = 3_600_000
const time = oneof(
  constantFrom(1, 500, 61_000).map((ms) => happening(`wait ${ms}`, (world) => world.wait(ms))),
  server.map((index) => happening(`clean at s${index}`, (world) => world.clean(index))),
  record({ server, skewMs: constantFrom(-HOUR, 0, HOUR) }).map((one) =>
    happening(`clock of s${one.server} ${one.skewMs}`, (world) => world.setClock(one.server, one.skewMs)),
  ),
)

const happenings = array(
  oneof(
    { weight: 8, arbitrary: asking },
    { weight: 1, arbitrary: beating },
    { weight: 20, arbitrary: progress },
    { weight: 2, arbitrary: mishap },
    { weight: 1, arbitrary: time },
  ),
  { maxLength: 250, size: 'max' },
)

/** Any story of three servers. */
export const stories: Arbitrary<Story> = record({
  conditions: record({
    skewsMs: constantFrom([0, 0, 0], [0, 0, 0], [0, 300_000, -300_000], [0, HOUR, -HOUR]),
    mostChanges: constantFrom(3, 20),
  }),
  happenings,
})

/** The events of a story of commands of every kind. */
export const storiesOfAnyCommand: Arbitrary<readonly Happening[]> = array(
  oneof(
    { weight: 8, arbitrary: record({ server, command: anyCommand }).map(executing) },
    { weight: 20, arbitrary: progress },
    { weight: 2, arbitrary: mishap },
    { weight: 1, arbitrary: time },
  ),
  { maxLength: 120, size: 'max' },
)

/** Lets commands of every kind happen, whatever they answer. All servers must end equal. */
export async function tellOfAnyCommand(all: readonly Happening[]): Promise<void> {
  const world = new World({ skewsMs: [0, 0, 0], mostChanges: 20 }, NOTHING, { isUnchecked: true })
  await withTrace(world, async () => {
    world.start()
    for (const { run } of all) {
      await run(world)
      await world.pause()
    }
    await world.settle()
    world.checkEqual()
  })
}

/** Lets a story happen. Throws a `Violation`, with everything that happened before it. */
export async function tell(
  { conditions, happenings: all }: Story,
  planted: Planted = NOTHING,
): Promise<void> {
  const world = new World(conditions, planted)
  await withTrace(world, async () => {
    await world.open()
    for (const { run } of all) {
      await run(world)
      await world.pause()
    }
    await world.settle()
    world.check()
  })
}

/** Adds to a violation what happened before it. */
export async function withTrace({ trace }: World, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    const text =
      error instanceof Violation ? error.message : error instanceof Error ? error.stack : String(error)
    throw new Violation(`${text}\nWhat happened:\n${trace.join('\n')}`)
  }
}

/** Something that happens, which fast-check prints by its title. */
export function happening<Of = World>(
  title: string,
  run: (world: Of) => void | Promise<void>,
): Happening<Of> {
  return { title, run, toString: () => title } as Happening<Of>
}

function executing({ server: index, command }: { server: number; command: Command<unknown> }): Happening {
  return happening(`s${index}: ${command.subject}`, (world) => world.execute(index, command))
}
