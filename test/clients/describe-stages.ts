import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ETCD_HOOK_MS } from '../support/etcd.ts'
import { needTool } from '../support/need-tool.ts'
import { Library, type LibraryProgram } from './grpc/library.ts'
import { canTake, type LibraryResults, type Scenario, type Stage } from './grpc/scenario.ts'
import { prepare, PREPARE_LIMIT_MS } from './prepared-program.ts'

/** Libraries, and the stages on which they are all at once. */
export interface StagePlay {
  readonly title: string
  readonly programs: readonly LibraryProgram[]
  /** Lists of stages side by side; those of one list are one after the other. */
  readonly stages: readonly (readonly Stage[])[]
  /** Tools that the stages need themselves. */
  readonly tools?: readonly string[]
}

const DRIVE_LIMIT_MS = 600_000

/** Prepares the programs, takes all steps with every version side by side, and makes a test of each step and version. */
export function describeStages({ title, programs, stages, tools = [] }: StagePlay): void {
  const kinds = programs.map((program) => ({
    program,
    needed: needTool(...program.tools, ...tools),
    libraries: program.versions.map((version) => new Library(program, version)),
  }))
  const able = kinds.filter(({ needed }) => !needed.skip)
  const libraries = able.flatMap((kind) => kind.libraries)
  const scenarios = stages.flat().flatMap((stage) => stage.scenarios)
  const results = new Map<Scenario, LibraryResults>()
  const failures = new Map<Scenario, string>()

  const drive = async (stage: Stage): Promise<void> => {
    const taking = libraries.filter((library) => stage.scenarios.some((one) => canTake(library, one)))
    try {
      for (const [scenario, ended] of await stage.drive(taking)) results.set(scenario, ended)
    } catch (error) {
      for (const scenario of stage.scenarios) failures.set(scenario, (error as Error).stack!)
    }
  }
  const driveAll = async (list: readonly Stage[]): Promise<void> => {
    for (const stage of list) await drive(stage)
  }

  describe(`${title}`, () => {
    beforeAll(async () => {
      for (const { program } of able) await prepare(program)
    }, PREPARE_LIMIT_MS * programs.length)
    beforeAll(async () => void (await Promise.all(stages.map(driveAll))), DRIVE_LIMIT_MS + ETCD_HOOK_MS)
    afterAll(() => Promise.all(libraries.map((library) => library.stop())))

    for (const { program, needed, libraries: own } of kinds)
      for (const library of own)
        for (const scenario of scenarios.filter((one) => canTake(library, one))) {
          const name = `${program.language} ${library.version.version}`
          const note = needed.skip ? ` (${needed.reason})` : ''
          describe.skipIf(needed.skip)(`${name} ${scenario.title}${note}`, () => {
            const lacks = library.version.lacks ?? {}
            test.for(scenario.steps.filter((step) => lacks[step] === undefined))('%s', (step) => {
              const ended = results.get(scenario)?.get(library)?.get(step)
              expect(ended?.ok, ended?.detail ?? failures.get(scenario) ?? 'not reported').toBe(true)
            })
          })
        }
  })
}
