/** The seed of a run: from `--seed N` among the arguments, else from the run that this one is a part of, else a new one. */
const LARGEST = 2 ** 31

/** Takes `--seed N` out of the arguments. `isGiven`: somebody else has named the seed, and printed it. */
export function takeSeed(args) {
  const at = args.indexOf('--seed')
  const given = at < 0 ? process.env.RUN_SEED : args[at + 1]
  const seed = Number(given ?? Math.floor(Math.random() * LARGEST))
  if (!Number.isInteger(seed) || seed < 0 || seed >= LARGEST) throw new Error('--seed is a whole number')
  return { seed, isGiven: given !== undefined, rest: at < 0 ? args : args.toSpliced(at, 2) }
}

/**
 * The variables that give this seed to tests which take random input or moments. Variables that are set stay. Properties take a
 * seed of their own: one that fails prints it.
 */
export function seedVariables(seed) {
  const { FUZZ_SEED = String(seed), FAULT_SEED = String(seed) } = process.env
  return { RUN_SEED: String(seed), FUZZ_SEED, FAULT_SEED }
}
