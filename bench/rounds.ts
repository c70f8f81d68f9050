import type { Options } from './options.ts'
import { type Bench, type Figures, type Scenario, untilAtRest } from './scenario.ts'
import type { TargetFigures } from './table.ts'
import type { Target } from './target.ts'

/** The result of one scenario. */
export interface Result {
  readonly scenario: string
  readonly series: string | undefined
  readonly rows: readonly TargetFigures[]
}

/** A server in its scenario. */
interface Running {
  readonly scenario: Scenario
  readonly target: Target
}

/** The requested scenarios. Throws if a name matches none. */
export function chosenFrom(
  scenarios: readonly Scenario[],
  { only, quick }: Pick<Options, 'only' | 'quick'>,
): Scenario[] {
  if (only === undefined) return scenarios.filter(({ long, notQuick }) => !long && !(quick && notQuick))
  const means = (word: string, { name, ownName }: Scenario): boolean =>
    name === word || (!ownName && name.startsWith(`${word}-`))
  const unknown = only.filter((word) => !scenarios.some((scenario) => means(word, scenario)))
  if (unknown.length > 0)
    throw new Error(`There is no scenario "${unknown.join('", "')}": --list names all scenarios.`)
  return scenarios.filter((scenario) => only.some((word) => means(word, scenario)))
}

/** Groups scenarios that run at the same time: those of one series. Every other scenario is alone. */
export function groupsOf(scenarios: readonly Scenario[]): Scenario[][] {
  const groups = new Map<string, Scenario[]>()
  for (const scenario of scenarios) {
    const { series, name } = scenario
    const key = series === undefined ? name : `series ${series}`
    groups.set(key, [...(groups.get(key) ?? []), scenario])
  }
  return [...groups.values()]
}

/**
 * Runs all rounds of the scenarios of a group. In each round, and in each part of a round, all servers take turns, so that
 * compared figures are measured within seconds of each other.
 */
export async function measureGroup(
  group: readonly Scenario[],
  bench: Bench,
  askedRounds: number | undefined,
): Promise<Result[]> {
  const [first] = group
  const rounds = askedRounds ?? Math.min(bench.rounds, roundsOf(first!, bench))
  const notes = new Notes()
  if (first!.freshRounds) await freshRounds(first!, { ...bench, rounds }, notes)
  else await sharedRounds(group, { ...bench, rounds }, notes)
  return group.map((scenario) => ({
    scenario: scenario.name,
    series: scenario.series,
    rows: notes.rowsOf(scenario),
  }))
}

function roundsOf({ rounds, freshRounds: fresh }: Scenario, { quick }: Bench): number {
  return rounds ?? (quick && fresh ? 1 : Infinity)
}

async function sharedRounds(group: readonly Scenario[], bench: Bench, notes: Notes): Promise<void> {
  const running: Running[] = []
  try {
    for (const scenario of group) await startAll(scenario, bench, running)
    const warm = running.filter(({ scenario }) => scenario.warmUp)
    await oneRound(warm, { ...bench, seconds: 1, askedSeconds: 1 }, -1)
    for (let round = 0; round < bench.rounds; round++) {
      const figures = await oneRound(running, bench, round)
      for (const [at, { scenario, target }] of running.entries())
        notes.add(scenario, target.name, figures[at]!)
      for (const scenario of group) await besides(scenario, bench, notes)
    }
  } finally {
    await stopAll(running)
  }
}

async function oneRound(running: readonly Running[], bench: Bench, round: number): Promise<Figures[]> {
  const figures: Figures[] = running.map(() => ({}))
  const parts = Math.max(...running.map(({ scenario }) => scenario.parts ?? 1))
  for (let part = 0; part < parts; part++)
    for (const [at, { scenario, target }] of running.entries()) {
      figures[at] = { ...figures[at], ...(await scenario.measure(target, { ...bench, part }, round)) }
      // It still works on the clients that have left, and would do so beside the next measurement.
      await untilAtRest(target)
    }
  return figures
}

/** Starts, measures and stops one server after the other. */
async function freshRounds(scenario: Scenario, bench: Bench, notes: Notes): Promise<void> {
  const running: Running[] = []
  for (let round = 0; round < bench.rounds; round++) {
    for (const [name, launch] of Object.entries(bench.launches)) {
      try {
        await startAll(scenario, { ...bench, launches: { [name]: launch } }, running)
        for (const { target } of running)
          notes.add(scenario, target.name, await scenario.measure(target, bench, round))
      } finally {
        await stopAll(running)
      }
    }
    await besides(scenario, bench, notes)
  }
}

async function besides(scenario: Scenario, bench: Bench, notes: Notes): Promise<void> {
  for (const { name, measure } of scenario.besides ?? []) notes.add(scenario, name, await measure(bench))
}

/** Starts and prepares servers, each when the one before is at rest. */
async function startAll(scenario: Scenario, bench: Bench, running: Running[]): Promise<void> {
  for (const [name, launch] of Object.entries(bench.launches)) {
    if (!scenario.kinds.includes(kindOf(name))) continue
    const { settings = {} } = scenario
    const target = await launch({ settings })
    running.push({ scenario, target })
    await scenario.prepare?.(target, bench)
    await untilAtRest(target)
  }
}

function kindOf(name: string): Target['kind'] {
  if (name === 'floor' || name === 'peer' || name === 'signed-in' || name === 'on-etcd') return name
  return name === 'ours' || name.startsWith('also') ? 'ours' : 'other'
}

async function stopAll(running: Running[]): Promise<void> {
  await Promise.all(running.splice(0).map(({ target }) => target.stop()))
}

/** The figures of each round, by scenario and target. */
class Notes {
  readonly #found = new Map<Scenario, Map<string, Figures[]>>()

  add(scenario: Scenario, target: string, figures: Figures): void {
    const ofScenario = this.#found.get(scenario) ?? new Map<string, Figures[]>()
    this.#found.set(scenario, ofScenario)
    ofScenario.set(target, [...(ofScenario.get(target) ?? []), figures])
  }

  rowsOf(scenario: Scenario): TargetFigures[] {
    return [...(this.#found.get(scenario) ?? [])].map(([target, rounds]) => ({ target, rounds }))
  }
}
