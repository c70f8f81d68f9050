import type { Library } from './library.ts'
import { resultOf, type StepResult } from './step.ts'

/** A situation, and the steps that every library must take in it. */
export interface Scenario {
  readonly title: string
  /** The titles of the steps. */
  readonly steps: readonly string[]
  readonly overTls?: boolean
}

/** Servers where all libraries go through some scenarios together. */
export interface Stage {
  readonly scenarios: readonly Scenario[]
  /** Starts the servers, takes the steps with all libraries side by side, and stops the servers. */
  readonly drive: (libraries: readonly Library[]) => Promise<StageResults>
}

/** How the steps of each scenario ended. */
export type StageResults = ReadonlyMap<Scenario, LibraryResults>
export type LibraryResults = ReadonlyMap<Library, Results>

/** How the steps ended, by their titles. */
export type Results = Pick<ReadonlyMap<string, StepResult>, 'get'>

/** The stage of one scenario. */
export function stageOf(
  scenario: Scenario,
  drive: (libraries: readonly Library[]) => Promise<LibraryResults>,
): Stage {
  return {
    scenarios: [scenario],
    drive: async (libraries) => new Map([[scenario, await drive(libraries)]]),
  }
}

/** Whether a library can take at least one step of a scenario. */
export function canTake({ version }: Library, { steps, overTls = false }: Scenario): boolean {
  const { lacks = {}, lacksTls } = version
  return steps.some((title) => lacks[title] === undefined) && (!overTls || lacksTls === undefined)
}

/** Takes the steps of every library side by side. */
export async function withEach(
  libraries: readonly Library[],
  take: (library: Library) => Promise<Results>,
): Promise<LibraryResults> {
  const cast = await Cast.of(libraries, async (library) => ({ results: await take(library) }))
  return cast.results(({ results }) => results)
}

/**
 * The libraries on a stage, each with an object that takes its steps. A library that fails between its steps leaves, with the reason
 * as the result of all steps; the others go on.
 */
export class Cast<Actor extends object> {
  readonly #actors = new Map<Library, Actor>()
  readonly #failures = new Map<Library, StepResult>()

  private constructor() {}

  static async of<Actor extends object>(
    libraries: readonly Library[],
    make: (library: Library) => Promise<Actor>,
  ): Promise<Cast<Actor>> {
    const cast = new Cast<Actor>()
    await Promise.all(
      libraries.map((library) =>
        cast.#try(library, async () => void cast.#actors.set(library, await make(library))),
      ),
    )
    return cast
  }

  /** Does something with every library that is left, side by side. */
  async each(work: (actor: Actor) => Promise<void>): Promise<void> {
    await Promise.all([...this.#actors].map(([library, actor]) => this.#try(library, () => work(actor))))
  }

  /** The results of all libraries, also of libraries that have left. */
  results(of: (actor: Actor) => Results): LibraryResults {
    const results = new Map<Library, Results>()
    for (const [library, actor] of this.#actors) results.set(library, of(actor))
    for (const [library, failure] of this.#failures) results.set(library, { get: () => failure })
    return results
  }

  async #try(library: Library, work: () => Promise<void>): Promise<void> {
    const result = await resultOf(work)
    if (result.ok) return
    this.#actors.delete(library)
    this.#failures.set(library, result)
  }
}
