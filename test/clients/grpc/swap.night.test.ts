import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needTool } from '../../support/need-tool.ts'
import { PEER, RUST_START_MS } from '../../move/rust-server.ts'
import { prepare, PREPARE_LIMIT_MS } from '../prepared-program.ts'
import { type OldServer, startAhead, startRust } from '../swap/old-servers.ts'
import { GO } from './go-program.ts'
import { JAVA, JAVA_1 } from './java-program.ts'
import { Library, type LibraryProgram, type LibraryVersion } from './library.ts'
import { PYTHON } from './python-program.ts'
import type { LibraryResults } from './scenario.ts'
import { driveSwap, SWAP_TITLES } from './swap-scenario.ts'

const PROGRAMS = [JAVA, GO, PYTHON]
const DRIVE_LIMIT_MS = 300_000

const needed = needTool(...PROGRAMS.flatMap(({ tools }) => tools))
const note = needed.skip ? ` (${needed.reason})` : ''
const peerNote = PEER.skip ? ` (${PEER.reason})` : ''

/** The libraries side by side: a swap concerns all clients of a company at once. */
describe.skipIf(needed.skip)(`unmodified clients, when another server takes over${note}`, () => {
  beforeAll(async () => {
    for (const program of PROGRAMS) await prepare(program)
  }, PREPARE_LIMIT_MS * PROGRAMS.length)

  describe('from a server that plays the old one', () => {
    describeSwap(startAhead)
  })

  describe.skipIf(PEER.skip)(`from the Rust server${peerNote}`, () => {
    describeSwap(startRust)
  })
})

function describeSwap(startOld: () => Promise<OldServer>): void {
  const libraries = PROGRAMS.flatMap((program) =>
    versionsOf(program).map((version) => [program.language, new Library(program, version)] as const),
  )
  let results: LibraryResults
  beforeAll(async () => {
    results = await driveSwap(
      startOld,
      libraries.map(([, library]) => library),
    )
  }, DRIVE_LIMIT_MS + RUST_START_MS)
  afterAll(() => Promise.all(libraries.map(([, library]) => library.stop())))

  describe.each(libraries)('%s', (_language, library) => {
    test.for(SWAP_TITLES)(`${library.version.version}: %s`, (title) => {
      const ended = results.get(library)?.get(title)
      expect(ended?.ok, ended?.detail ?? 'not reported').toBe(true)
    })
  })
}

/** Java is the only one with a version of 1.x here. */
function versionsOf(program: LibraryProgram): readonly LibraryVersion[] {
  return program === JAVA ? [JAVA_1, ...JAVA.versions] : program.versions
}
