import { type Arbitrary, boolean, constantFrom, integer, nat, oneof, record } from 'fast-check'
import type { JudgingWorld } from './judging-world.ts'
import { type Happening, happening } from './story.ts'

const server = nat(2)
const FAULTS = ['isCut', 'isMute', 'isSlow'] as const

/** Some time passes. */
export function passing<W extends JudgingWorld>(): Arbitrary<Happening<W>> {
  return record({ ticks: integer({ min: 1, max: 24 }), preferred: server }).map((one) =>
    happening<W>(`pass ${one.ticks}, s${one.preferred}`, (world) => world.pass(one.ticks, one.preferred)),
  )
}

/** Servers are cut off, frozen, killed and started. */
export function trouble<W extends JudgingWorld>(): Arbitrary<Happening<W>> {
  return oneof(
    record({ server, fault: constantFrom(...FAULTS), isSo: boolean() }).map((one) =>
      happening<W>(`s${one.server} ${one.fault}: ${one.isSo}`, (world) => {
        const judging = world.at(one.server)
        if (judging !== undefined) judging[one.fault] = one.isSo
        world.world.note(`s${one.server} ${one.fault}: ${one.isSo}`)
      }),
    ),
    record({ server, isFrozen: boolean() }).map((one) =>
      happening<W>(`freeze s${one.server} ${one.isFrozen}`, ({ world }) =>
        world.freeze(one.server, one.isFrozen),
      ),
    ),
    server.map((index) => happening<W>(`crash s${index}`, ({ world }) => world.crash(index))),
    server.map((index) => happening<W>(`restart s${index}`, ({ world }) => world.restart(index))),
    server.map((index) => happening<W>(`reload s${index}`, (world) => world.reload(index))),
    constantFrom(0, 500, 1_000).map((ms) =>
      happening<W>(`answers take ${ms}`, (world) => void (world.answersTakeMs = ms)),
    ),
  )
}
