import { type Arbitrary, array, constantFrom, integer, nat, oneof, record } from 'fast-check'
import { ConnectionWorld } from './connection-world.ts'
import { SERVICES } from './operations.ts'
import { NOTHING, type Planted } from './planted-faults.ts'
import { type Happening, happening, withTrace } from './story.ts'
import { passing, trouble } from './troubles.ts'

type ConnectionHappening = Happening<ConnectionWorld>

const ports = array(nat(2), { maxLength: 3 })
const client = nat(3)
const clients = oneof(
  record({ service: constantFrom(...SERVICES), chosen: ports }).map((one) =>
    happening<ConnectionWorld>(`open in ${one.service}`, (world) => world.open(one.service, one.chosen)),
  ),
  record({ client, chosen: ports }).map((one) =>
    happening<ConnectionWorld>(`c${one.client} wants ${one.chosen.join()}`, (world) =>
      world.want(one.client, one.chosen),
    ),
  ),
  client.map((dice) => happening<ConnectionWorld>(`close ${dice}`, (world) => world.close(dice))),
  client.map((dice) => happening<ConnectionWorld>(`move ${dice}`, (world) => world.move(dice))),
  client.map((dice) => happening<ConnectionWorld>(`disconnect ${dice}`, (world) => world.disconnect(dice))),
)
const http = oneof(
  {
    weight: 2,
    arbitrary: record({ service: constantFrom(...SERVICES), port: integer({ min: 1, max: 3 }) }).map((one) =>
      happening<ConnectionWorld>(`HTTP at ${one.port} in ${one.service}`, (world) =>
        world.http.come(one.service, one.port),
      ),
    ),
  },
  ...(['dead', 'leaves'] as const).map((state) => ({
    weight: 1,
    arbitrary: client.map((dice) =>
      happening<ConnectionWorld>(`HTTP ${dice} ${state}`, (world) => world.http.end(dice, state)),
    ),
  })),
)
const longPassing = integer({ min: 20, max: 40 }).map((ticks) =>
  happening<ConnectionWorld>(`pass ${ticks}`, (world) => world.pass(ticks, 0)),
)

/** Any story of three servers and the connections of clients. */
export const connectionStories: Arbitrary<readonly ConnectionHappening[]> = array(
  oneof(
    { weight: 5, arbitrary: clients },
    { weight: 3, arbitrary: http },
    { weight: 8, arbitrary: passing<ConnectionWorld>() },
    { weight: 1, arbitrary: longPassing },
    { weight: 6, arbitrary: trouble<ConnectionWorld>() },
  ),
  { maxLength: 40, size: 'max' },
)

/** Lets a story happen. Throws a `Violation`, with everything that happened before it. */
export async function tellOfConnections(
  story: readonly ConnectionHappening[],
  planted: Planted = NOTHING,
): Promise<void> {
  const world = new ConnectionWorld(planted)
  await withTrace(world.world, async () => {
    await world.pass(1, 0)
    for (const service of SERVICES) world.open(service, [0, 1])
    for (const { run } of story) await run(world)
    await world.end()
  })
}
