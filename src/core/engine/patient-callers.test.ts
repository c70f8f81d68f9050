import { beforeEach, describe, expect, test } from 'vitest'
import { PatientCallers } from './patient-callers.ts'

let nowMs: number
let turns: (() => void)[]
let timers: { ms: number; run: () => void }[]
let begun: number
let callers: PatientCallers

beforeEach(() => {
  nowMs = 0
  turns = []
  timers = []
  begun = 0
  callers = new PatientCallers({
    now: () => nowMs,
    soon: (run) => turns.push(run),
    after: (ms, run) => timers.push({ ms, run }),
  })
})

const begin = (): void => void begun++
const turn = (): void => turns.splice(0).forEach((run) => run())

/** A commit of some callers that took this time, while others have come. */
function commit(count: number, { waiting = 0, tookMs = 20 } = {}): void {
  callers.sent()
  nowMs += tookMs
  callers.answered(count, waiting)
}

describe('a commit to a shared store', () => {
  test('begins in the next turn for the first caller, and for one who was alone', () => {
    callers.gather(1, begin)
    turn()
    commit(1)
    callers.gather(1, begin)
    turn()
    expect(begun).toBe(2)
    expect(timers).toEqual([])
  })

  test('begins when all callers of the last batch are back, with the callers who waited behind it', () => {
    commit(2, { waiting: 1 })
    callers.gather(1, begin)
    callers.arrived(2)
    turn()
    expect(begun).toBe(0)
    callers.arrived(3)
    callers.arrived(4)
    turn()
    expect(begun).toBe(1)
    timers.forEach(({ run }) => run())
    expect(begun).toBe(1)
  })

  test.each([
    [20, 5],
    [400, 10],
  ])('that took %i ms lets the next one wait for %i ms at most', (tookMs, waitMs) => {
    commit(3, { tookMs })
    callers.gather(1, begin)
    expect(timers.map(({ ms }) => ms)).toEqual([waitMs])
    timers.forEach(({ run }) => run())
    callers.arrived(3)
    turn()
    expect(begun).toBe(1)
  })

  test('is not begun by the timer of an earlier one', () => {
    commit(2)
    callers.gather(1, begin)
    callers.arrived(2)
    turn()
    commit(2)
    callers.gather(1, begin)
    timers[0]!.run()
    expect(begun).toBe(1)
    timers[1]!.run()
    expect(begun).toBe(2)
  })
})
