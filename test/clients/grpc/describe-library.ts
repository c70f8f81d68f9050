import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ETCD_HOOK_MS } from '../../support/etcd.ts'
import { needTool } from '../../support/need-tool.ts'
import { NPM } from '../http/http-programs.ts'
import { prepare, PREPARE_LIMIT_MS } from '../prepared-program.ts'
import { Library, type LibraryProgram, type LibraryVersion } from './library.ts'
import { LEAK_SCENARIO } from './leak-scenario.ts'
import { MOVE_SCENARIO } from './move-scenario.ts'
import { KILL_SCENARIO, RESTART_SCENARIO } from './outage-scenarios.ts'
import { NODE_SCENARIO, openScenario, TLS_SCENARIO } from './plain-scenarios.ts'
import type { Results, Scenario } from './scenario.ts'

/** One after the other. */
const OUTAGES = [KILL_SCENARIO, RESTART_SCENARIO]
const DRIVE_LIMIT_MS = 300_000

/**
 * Prepares the program, takes all steps with every version of its library side by side, and makes a test of each.
 * `tools`: what must be on the path.
 */
export function describeLibrary(language: string, tools: readonly string[], program: LibraryProgram): void {
  const needed = needTool(...tools, 'node', 'npm', 'openssl', 'go')
  const note = needed.skip ? ` (${needed.reason})` : ''
  describe.skipIf(needed.skip)(`the ${language} client over gRPC, unmodified${note}`, () => {
    const libraries = program.versions.map((version) => new Library(program, version))
    // A client of 1.x, which uses HTTP.
    const old = new Library(NPM, NPM.versions[0]!)
    const busy = [openScenario(() => old), TLS_SCENARIO, NODE_SCENARIO]
    const scenarios = [...busy, ...OUTAGES, MOVE_SCENARIO, LEAK_SCENARIO]
    const results = new Map<Scenario, ReadonlyMap<Library, Results>>()
    const failures = new Map<Scenario, string>()
    beforeAll(async () => {
      await prepare(NPM)
      await prepare(program)
    }, PREPARE_LIMIT_MS * 2)
    const drive = async (scenario: Scenario): Promise<void> => {
      const able = libraries.filter(({ version }) => canTake(version, scenario))
      const driven = scenario.drive(able).then((ended) => void results.set(scenario, ended))
      await driven.catch((error: Error) => void failures.set(scenario, error.stack ?? error.message))
    }
    const driveAll = async (list: readonly Scenario[]): Promise<void> => {
      for (const scenario of list) await drive(scenario)
    }
    beforeAll(async () => {
      // Outages mostly wait; the move and the leak wait longest. The others are busy.
      const waiting = [drive(LEAK_SCENARIO), drive(MOVE_SCENARIO), driveAll(OUTAGES)]
      await driveAll(busy)
      // Its server has gone. It asks on and on then, and takes a whole core.
      await old.stop()
      await Promise.all(waiting)
    }, DRIVE_LIMIT_MS + ETCD_HOOK_MS)
    afterAll(() => Promise.all([old, ...libraries].map((one) => one.stop())))
    for (const library of libraries)
      for (const scenario of scenarios.filter((one) => canTake(library.version, one)))
        describe(`${library.version.version} ${scenario.title}`, () => {
          const lacks = library.version.lacks ?? {}
          test.for(scenario.steps.filter((title) => lacks[title] === undefined))('%s', (title) => {
            const ended = results.get(scenario)?.get(library)?.get(title)
            expect(ended?.ok, ended?.detail ?? failures.get(scenario) ?? 'not reported').toBe(true)
          })
        })
  })
}

/** Whether a version can take at least one step of a scenario. */
function canTake({ lacks = {}, lacksTls }: LibraryVersion, { steps, overTls = false }: Scenario): boolean {
  return steps.some((title) => lacks[title] === undefined) && (!overTls || lacksTls === undefined)
}
