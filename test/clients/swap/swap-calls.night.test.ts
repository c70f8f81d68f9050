/** The calls of applications while another server takes the place of their own: with unmodified libraries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startManaged } from '../../support/administrator.ts'
import { needTool } from '../../support/need-tool.ts'
import { PEER, RUST_START_MS } from '../../move/rust-server.ts'
import { prepare, PREPARE_LIMIT_MS } from '../prepared-program.ts'
import { KINDS, lengthOf } from './application-calls.ts'
import { failedIn, figuresOf, shown } from './figures.ts'
import { SLACK_MS, SWAP_PROGRAMS, swappedLibraries } from './libraries.ts'
import { type MeasuredSwap, STOP_MS, swapUnder } from './measured-swap.ts'
import { type OldServer, startAhead, startRust } from './old-servers.ts'

const DRIVE_LIMIT_MS = 400_000 + STOP_MS

const needed = needTool(...SWAP_PROGRAMS.flatMap(({ tools }) => tools))
const note = needed.skip ? ` (${needed.reason})` : ''
const peerNote = PEER.skip ? ` (${PEER.reason})` : ''

describe.skipIf(needed.skip)(`calls of applications, when another server takes over${note}`, () => {
  beforeAll(async () => {
    for (const program of SWAP_PROGRAMS) await prepare(program)
  }, PREPARE_LIMIT_MS * SWAP_PROGRAMS.length)

  describe('from a server that plays the old one', () => {
    describeSwap(startAhead)
  })

  describe.skipIf(PEER.skip)(`from the Rust server${peerNote}`, () => {
    describeSwap(startRust)
  })
})

function describeSwap(startOld: () => Promise<OldServer>): void {
  const libraries = swappedLibraries()
  let swap: MeasuredSwap
  beforeAll(async () => {
    swap = await swapUnder(libraries, await startOld(), await startManaged({ settings: { auth: 'report' } }))
    console.log(shown(swap))
  }, DRIVE_LIMIT_MS + RUST_START_MS)
  afterAll(() => Promise.all(libraries.map(({ library }) => library.stop())))

  describe.each(libraries)('$name', (one) => {
    test('no call fails longer than the library tries', () => {
      for (const kind of KINDS) {
        const { count, timeoutMs } = one.tries[kind]
        const long = failedIn(swap, one, kind).filter((call) => lengthOf(call) > count * timeoutMs + SLACK_MS)
        expect(long, kind).toEqual([])
      }
    })

    test('all calls work until the stop, and soon after the start', () => {
      const { stopMs, answersMs } = swap
      const againMs = one.againMs + SLACK_MS
      for (const kind of KINDS) {
        expect(figuresOf(swap, one, kind).isNewMs, kind).toBeLessThan(againMs)
        // On a busy machine an answer may come too late.
        const failed = failedIn(swap, one, kind).filter((call) => lengthOf(call) < one.tries[kind].timeoutMs)
        const outside = failed.filter(
          ({ beganMs, endedMs }) => endedMs < stopMs || beganMs > answersMs + againMs,
        )
        expect(outside, kind).toEqual([])
      }
    })
  })

  test('no publish that was acknowledged is lost', () => expect(swap.lost).toEqual([]))

  test('no list of the new server lacks a live instance that the last reading had', () => {
    expect(swap.gaps).toEqual([])
  })

  test('only live instances are left after the grace', () => {
    expect(swap.shared.left).toEqual(swap.shared.wanted)
  })

  test('who has registered after that comes back with its client', () => {
    expect(swap.allListedMs).toBeLessThan(Infinity)
    expect(swap.unlisted).toEqual([])
  })
}
