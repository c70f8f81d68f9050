import { type Arbitrary, array, constantFrom, nat, oneof, record } from 'fast-check'
import { PLACES, SERVICES } from './operations.ts'
import { NOTHING, type Planted } from './planted-faults.ts'
import { SilenceWorld } from './silence-world.ts'
import { type Happening, happening, withTrace } from './story.ts'
import { passing, trouble } from './troubles.ts'

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
const fallingSilent = nat(3).map((dice) =>
  happening<SilenceWorld>(`fall silent ${dice}`, (world) => world.fallSilent(dice)),
)
/** Any story of three servers that judge silence. */
export const silenceStories: Arbitrary<readonly SilenceHappening[]> = array(
  oneof(
    { weight: 2, arbitrary: registering },
    { weight: 1, arbitrary: dying },
    { weight: 1, arbitrary: fallingSilent },
    { weight: 12, arbitrary: passing<SilenceWorld>() },
    { weight: 12, arbitrary: trouble<SilenceWorld>() },
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
