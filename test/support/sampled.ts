/**
 * Wide sweeps: `.ci/run` has a sample of their cases, another one each time. The seed that it prints repeats its sample:
 * `--seed N`. The night has all cases, and so has `npm run test:all`.
 */
import { createHash } from 'node:crypto'

/** A run has one case of this many. */
const ONE_OF = 4
const { RUN_SEED, SAMPLED } = process.env
/** Null: the run has all cases. */
const SEED = SAMPLED === 'true' && RUN_SEED !== undefined ? Number(RUN_SEED) : null

/**
 * The cases of a sweep that this run has, in their order: a quarter of each group, and at least one. A file that samples its
 * cases is in a part of the night, which test/speeds.test.ts checks.
 */
export function sampled<Case>(
  cases: readonly Case[],
  groupOf: (one: Case) => string = () => '',
  seed: number | null = SEED,
): Case[] {
  if (seed === null) return [...cases]
  const shuffled = cases
    .map((one, index) => ({ index, group: groupOf(one), place: placeOf(index, seed) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
  const groups = new Map<string, number[]>()
  for (const { group, index } of shuffled) groups.set(group, [...(groups.get(group) ?? []), index])
  return [...groups.values()]
    .flatMap((group) => group.slice(0, Math.ceil(group.length / ONE_OF)))
    .toSorted((a, b) => a - b)
    .map((index) => cases[index]!)
}

/** Random, and the same for the same seed. */
function placeOf(index: number, seed: number): string {
  return createHash('sha1').update(`${seed} ${index}`).digest('hex')
}
