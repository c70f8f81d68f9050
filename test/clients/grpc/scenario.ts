import type { Library } from './library.ts'
import type { StepResult } from './step.ts'

/** Servers in some state, and the steps that every library must take there. */
export interface Scenario {
  readonly title: string
  /** The titles of the steps. */
  readonly steps: readonly string[]
  readonly overTls?: boolean
  /** Starts the servers, takes the steps with all libraries side by side, and stops the servers. */
  readonly drive: (libraries: readonly Library[]) => Promise<ReadonlyMap<Library, Results>>
}

/** How the steps ended, by their titles. */
export type Results = ReadonlyMap<string, StepResult>

/** Takes the steps of every library side by side. */
export async function withEach(
  libraries: readonly Library[],
  take: (library: Library) => Promise<Results>,
): Promise<ReadonlyMap<Library, Results>> {
  return new Map(await Promise.all(libraries.map(async (library) => [library, await take(library)] as const)))
}
