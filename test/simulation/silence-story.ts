import { type Arbitrary, array, boolean, constantFrom, integer, nat, oneof, record } from 'fast-check'
import { PLACES, SERVICES } from './operations.ts'
import { NOTHING, type Planted } from './planted-faults.ts'
import { SilenceWorld } from './silence-world.ts'
import { type Happening, happening, withTrace } from './story.ts'

type SilenceHappening = Happening<SilenceWorld>

const server = nat(2)
const registering = record({
  server,
  service: constantFrom(...SERVICES),
  place: constantFrom(...PLACES),
}).map((one) =>
  happening<SilenceWorld>(`register at s${one.server}`, (world) =>
    world.register(one.server, one.service, one.place),
  ),
)
const dying = nat(3).map((dice) => happening<SilenceWorld>(`die ${dice}`, (world) => world.die(dice)))
const passing = record({ ticks: integer({ min: 1, max: 24 }), preferred: server }).map((one) =>
  happening<SilenceWorld>(`pass ${one.ticks}, s${one.preferred}`, (world) =>
    world.pass(one.ticks, one.preferred),
  ),
)

const FAULTS = ['isCut', 'isMute', 'isSlow'] as const
const trouble = oneof(
  record({ server, fault: constantFrom(...FAULTS), isSo: boolean() }).map((one) =>
    happening<SilenceWorld>(`s${one.server} ${one.fault}: ${one.isSo}`, (world) => {
      const judging = world.at(one.server)
      if (judging !== undefined) judging[one.fault] = one.isSo
      world.world.note(`s${one.server} ${one.fault}: ${one.isSo}`)
    }),
  ),
  record({ server, isFrozen: boolean() }).map((one) =>
    happening<SilenceWorld>(`freeze s${one.server} ${one.isFrozen}`, ({ world }) =>
      world.freeze(one.server, one.isFrozen),
    ),
  ),
  server.map((index) => happening<SilenceWorld>(`crash s${index}`, ({ world }) => world.crash(index))),
  server.map((index) => happening<SilenceWorld>(`restart s${index}`, ({ world }) => world.restart(index))),
  server.map((index) => happening<SilenceWorld>(`reload s${index}`, (world) => world.reload(index))),
  constantFrom(0, 500, 1_000).map((ms) =>
    happening<SilenceWorld>(`answers take ${ms}`, (world) => void (world.answersTakeMs = ms)),
  ),
)

/** Any story of three servers that judge silence. */
export const silenceStories: Arbitrary<readonly SilenceHappening[]> = array(
  oneof(
    { weight: 2, arbitrary: registering },
    { weight: 1, arbitrary: dying },
    { weight: 12, arbitrary: passing },
    { weight: 12, arbitrary: trouble },
  ),
  { maxLength: 40, size: 'max' },
)

/** Lets a story happen. Throws a `Violation`, with everything that happened before it. */
export async function tellOfSilence(
  story: readonly SilenceHappening[],
  planted: Planted = NOTHING,
): Promise<void> {
  const world = new SilenceWorld(planted)
  await withTrace(world.world, async () => {
    await world.pass(1, 0)
    for (const [index, service] of SERVICES.entries()) world.register(index, service, PLACES[0]!)
    for (const { run } of story) await run(world)
    await world.end()
  })
}
