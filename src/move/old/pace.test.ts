import { describe, expect, test } from 'vitest'
import { Pace } from './pace.ts'

/** A clock that runs only when somebody waits. */
class HandClock {
  now = 0
  readonly nowMs = (): number => this.now
  readonly wait = async (ms: number): Promise<void> => {
    this.now += ms
  }
}

describe('the pace of calls', () => {
  test('gives this number of turns a second', async () => {
    const clock = new HandClock()
    const pace = new Pace(100, clock)
    for (let turn = 0; turn < 101; turn++) await pace.turn()
    expect(clock.now).toBeCloseTo(1_000)
  })

  test('is halved once a second while the server is overloaded, down to one call', () => {
    const clock = new HandClock()
    const pace = new Pace(100, clock)
    const rates: number[] = []
    for (let second = 0; second < 8; second++) {
      for (let answer = 0; answer < 5; answer++) pace.answered(10, true)
      rates.push(pace.perSecond)
      clock.now += 1_000
    }
    expect(rates).toEqual([50, 25, 12.5, 6.25, 3.125, 1.5625, 1, 1])
  })

  test('is halved when answers slow down, and rises again to the allowed rate', () => {
    const clock = new HandClock()
    const pace = new Pace(100, clock)
    const after = (elapsedMs: number): number => {
      clock.now += 1_000
      pace.answered(elapsedMs, false)
      return pace.perSecond
    }
    expect(after(20)).toBe(100)
    expect(after(2_000)).toBe(50)
    expect([after(20), after(20), after(20), after(20)]).toEqual([62.5, 78.125, 97.65625, 100])
  })

  test('does not take a server that is always slow for one that is overloaded', () => {
    const clock = new HandClock()
    const pace = new Pace(100, clock)
    for (let answer = 0; answer < 20; answer++) {
      clock.now += 1_000
      pace.answered(900, false)
    }
    expect(pace.perSecond).toBe(100)
  })
})
