import type { Now } from '../../decisions/stamps.ts'
import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  deregistered,
  lastBeatMs,
  livenessOf,
  livingState,
  ORDERS,
  registered,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { beat, renewKnown } from './beat.ts'
import { timingOf } from '../state/beat-timing.ts'
import type { Liveness } from './liveness.ts'
import { HealthClock } from './health-clock.ts'
import { OPERATOR } from '../state/instance.ts'
import { updateMetadata } from '../commands/metadata-commands.ts'

/** Renews the instance of a known beat; undefined where nobody knows the beat. */
function beatAgain(liveness: Liveness, fingerprint: string, now: Now) {
  const instance = liveness.find(fingerprint)
  return instance === undefined ? undefined : renewKnown(liveness, instance, now)
}

const SWEEP_MS = 250
const everyone = () => true

/** Sweeps until `untilMs` and applies what each sweep finds. Returns the kinds of the changes with their times in ms. */
function sweepUntil(state: State, untilMs: number, fromMs = 0): { ms: number; kind: string }[] {
  const seen: { ms: number; kind: string }[] = []
  for (let ms = fromMs; ms <= untilMs; ms += SWEEP_MS) {
    for (const change of livenessOf(state).sweep(at(ms), everyone)) {
      seen.push({ ms, kind: change.kind })
      state.apply([change], at(ms))
    }
  }
  return seen
}

let state: State
beforeEach(() => void (state = livingState()))

describe('the health clock', () => {
  test('follows the monotonic clock while sweeps are on time', () => {
    const clock = new HealthClock(1_000, SWEEP_MS)
    expect(clock.at(1_100)).toBe(100)
    expect(clock.sweep(1_250)).toBe(250)
    expect(clock.at(1_300)).toBe(300)
    expect(clock.sweep(1_500)).toBe(500)
  })

  test('advances at most two ticks per sweep, however long the process was paused', () => {
    const clock = new HealthClock(0, SWEEP_MS)
    expect(clock.at(10_000)).toBe(500)
    expect(clock.sweep(10_000)).toBe(500)
    expect(clock.sweep(10_250)).toBe(750)
  })

  test('stops while it is held, and continues from there', () => {
    const clock = new HealthClock(0, SWEEP_MS)
    expect(clock.at(200)).toBe(200)
    clock.hold(250)
    expect([clock.at(250), clock.at(400)]).toEqual([250, 250])
    clock.hold(9_000)
    expect(clock.sweep(9_250)).toBe(250)
    expect(clock.sweep(9_500)).toBe(500)
  })

  test('knows for how long it was stopped since a time', () => {
    const clock = new HealthClock(1_000, SWEEP_MS)
    clock.sweep(1_250)
    clock.sweep(1_700)
    expect(clock.pausedSince(0)).toBe(0)
    const beforeMs = clock.at(1_750)
    const afterMs = clock.sweep(41_700)
    expect(clock.pausedSince(beforeMs)).toBe(39_500)
    expect(clock.pausedSince(afterMs)).toBe(0)
    clock.hold(41_950)
    clock.hold(50_000)
    clock.sweep(51_950)
    expect([beforeMs, afterMs].map((ms) => clock.pausedSince(ms))).toEqual([49_500, 10_000])
  })

  test('knows until when it last stood still for long, also before the next sweep', () => {
    const clock = new HealthClock(1_000, SWEEP_MS)
    expect(clock.stoodStillUntil(3_000, 4_400)).toBe(-Infinity)
    expect(clock.stoodStillUntil(3_000, 4_500)).toBe(4_500)
    clock.sweep(6_000)
    clock.sweep(8_000)
    expect(clock.stoodStillUntil(3_000, 8_100)).toBe(6_000)
    clock.hold(8_200)
    expect(clock.stoodStillUntil(3_000, 30_000)).toBe(6_000)
  })

  test('never goes back', () => {
    const clock = new HealthClock(1_000, SWEEP_MS)
    expect(clock.at(900)).toBe(0)
    assert(
      property(array(integer({ min: 0, max: 2_000 })), (steps) => {
        const other = new HealthClock(0, SWEEP_MS)
        let [ms, last] = [0, 0]
        for (const [turn, step] of steps.entries()) {
          ms += step
          if (turn % 7 === 3) other.hold(ms)
          const now = turn % 2 === 0 ? other.sweep(ms) : other.at(ms)
          expect(now).toBeGreaterThanOrEqual(last)
          last = now
        }
      }),
    )
  })

  test('a pause of 10 s expires no instance', () => {
    registered(state)
    const clock = new HealthClock(0, SWEEP_MS)
    for (let ms = SWEEP_MS; ms <= 14_000; ms += SWEEP_MS) clock.sweep(ms)
    expect(livenessOf(state).sweep({ ...at(0), healthMs: clock.sweep(24_000) }, everyone)).toEqual([])
    const beaten = { ...at(0), healthMs: clock.at(24_010) }
    beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, beaten)
    expect(livenessOf(state).sweep({ ...at(0), healthMs: clock.sweep(24_250) }, everyone)).toEqual([])
  })
})

describe('silence', () => {
  test('makes an instance unhealthy after 15 s and removes it after 30 s', () => {
    registered(state)
    expect(sweepUntil(state, 40_000)).toEqual([
      { ms: 15_000, kind: 'instance-health-changed' },
      { ms: 30_000, kind: 'instance-removed' },
    ])
    expect(state.instancesInAll).toBe(0)
  })

  test('of a persistent instance changes nothing', () => {
    registered(state, { ephemeral: false })
    expect(sweepUntil(state, 60_000)).toEqual([])
  })

  test('counts only while an instance is ephemeral, if it changes its kind', () => {
    registered(state)
    registered(state, { ephemeral: false })
    expect(sweepUntil(state, 60_000)).toEqual([])
    registered(state, {}, at(60_000))
    expect(sweepUntil(state, 91_000, 60_000).map(({ ms }) => ms)).toEqual([75_000, 90_000])
  })

  test('of an instance that a connection or an operator published changes nothing', () => {
    registered(state, { publisher: { kind: 'connection', id: 'c1' } })
    registered(state, { publisher: OPERATOR, address: address({ port: 81 }) })
    expect(sweepUntil(state, 60_000)).toEqual([])
  })

  test('counts from the registration with which a client that sends beats takes over an address', () => {
    registered(state, { publisher: { kind: 'connection', id: 'c1' } })
    registered(state, {}, at(60_000))
    expect(sweepUntil(state, 91_000, 60_000).map(({ ms }) => ms)).toEqual([75_000, 90_000])
  })

  test('ends only the claim when a connection has taken over the address', () => {
    registered(state)
    registered(state, { publisher: { kind: 'connection', id: 'c1' } }, at(14_000))
    expect(sweepUntil(state, 60_000)).toEqual([{ ms: 30_000, kind: 'instance-saved' }])
    expect(state.instance(ORDERS, address())?.record).not.toHaveProperty('claims')
  })

  test('after a beat makes an instance healthy, its silence counts from zero, every time', () => {
    const instance = registered(state)
    const source = { serviceKey: ORDERS, ...address() }
    for (let round = 0; round < 3; round++) {
      const startMs = round * 20_000
      expect(sweepUntil(state, startMs + 16_000, startMs)).toEqual([
        { ms: startMs + 15_000, kind: 'instance-health-changed' },
      ])
      const result = beat(beatPartsOf(state), source, at(startMs + 20_000))
      state.apply(result.kind === 'renewed' ? result.healed : [], at(startMs + 20_000))
      expect(instance.healthy).toBe(true)
    }
  })

  test('in a service that is not judged changes nothing, and counts from zero when it is judged again', () => {
    registered(state)
    for (let ms = 0; ms <= 100_000; ms += SWEEP_MS)
      expect(livenessOf(state).sweep(at(ms), () => false)).toEqual([])
    const found = sweepUntil(state, 132_000, 100_250)
    expect(found.map(({ kind }) => kind)).toEqual(['instance-health-changed', 'instance-removed'])
    expect(found[0]?.ms).toBeGreaterThan(114_000)
    expect(found[0]?.ms).toBeLessThanOrEqual(116_500)
  })

  test('is limited by the times in the metadata as soon as they are set', () => {
    registered(state, {
      metadata: { 'preserved.heart.beat.timeout': '60000', 'preserved.ip.delete.timeout': '90000' },
    })
    expect(sweepUntil(state, 50_000)).toEqual([])
    const keys = { 'preserved.heart.beat.timeout': '1000', 'preserved.ip.delete.timeout': '70000' }
    const batch = { serviceKey: ORDERS, consistencyType: 'ephemeral', instances: [], maxBytes: 1e4 }
    carryOut(state, updateMetadata({ ...batch, keys }), at(50_000))
    expect(sweepUntil(state, 90_000, 50_250)).toEqual([
      { ms: 50_250, kind: 'instance-health-changed' },
      { ms: 70_000, kind: 'instance-removed' },
      { ms: 70_000, kind: 'record-saved' },
    ])
  })

  test('is limited by a time in the metadata only if that is a number of milliseconds', () => {
    const { timing } = registered(state, {
      metadata: {
        'preserved.heart.beat.interval': '1000',
        'preserved.heart.beat.timeout': 'soon',
        'preserved.ip.delete.timeout': '-1',
      },
    })
    expect(timing).toEqual({ intervalMs: 1_000, unhealthyMs: 15_000, removeMs: 30_000 })
  })

  test.each([
    // Asked for: the interval, the time until unhealthy, the time until removed. Then the times that count.
    [undefined, 0, 0, 1_000, 1_000],
    [undefined, 999, 1_000, 1_000, 1_500],
    [undefined, 100, 600, 1_000, 1_500],
    [2_000, 3_000, 4_000, 5_000, 5_500],
    [2_000, 3_000, 60_000, 5_000, 60_000],
    [2_000, 60_000, 3_000, 60_000, 5_000],
    [20_000, undefined, undefined, 41_000, 41_500],
    [500, 2_000, 2_001, 2_000, 2_001],
  ])('with an interval of %s, %s and %s count as %s and %s', (...times) => {
    const [interval, unhealthy, remove, unhealthyMs, removeMs] = times
    const asked = {
      'preserved.heart.beat.interval': interval,
      'preserved.heart.beat.timeout': unhealthy,
      'preserved.ip.delete.timeout': remove,
    }
    const named = Object.entries(asked).filter(([, ms]) => ms !== undefined)
    const metadata = Object.fromEntries(named.map(([key, ms]) => [key, String(ms)]))
    expect(timingOf(metadata)).toEqual({ intervalMs: interval, unhealthyMs, removeMs })
  })

  test.each(['1', '3', '499'])('an interval of %s ms counts as 500 ms', (interval) => {
    expect(timingOf({ 'preserved.heart.beat.interval': interval }).intervalMs).toBe(500)
  })

  test('is judged never early and at most a second late, with any times in the metadata and any beats', () => {
    const times = constantFrom(0, 1, 100, 249, 250, 251, 900, 3_000, 7_777, 15_000, 30_000)
    const timing = record({ unhealthyMs: times, removeMs: times })
    assert(
      property(timing, array(integer({ min: 0, max: 40_000 }), { maxLength: 8 }), (asked, beats) => {
        const state = livingState()
        const instance = registered(state, {
          metadata: {
            'preserved.heart.beat.timeout': String(asked.unhealthyMs),
            'preserved.ip.delete.timeout': String(asked.removeMs),
          },
        })
        const { unhealthyMs, removeMs } = instance.timing
        const ahead = beats.toSorted((a, b) => a - b)
        for (let ms = 0; ms <= 75_000 && state.instancesInAll > 0; ms += SWEEP_MS) {
          while ((ahead[0] ?? Infinity) <= ms) {
            const now = at(ahead.shift() ?? 0)
            const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, now)
            state.apply(result.kind === 'renewed' ? result.healed : [], now)
          }
          const silenceMs = ms - (lastBeatMs(state, instance) ?? NaN)
          for (const change of livenessOf(state).sweep(at(ms), everyone)) {
            state.apply([change], at(ms))
            if (change.kind === 'instance-removed') expect(silenceMs).toBeGreaterThanOrEqual(removeMs)
            else if (change.kind === 'instance-health-changed')
              expect(silenceMs).toBeGreaterThanOrEqual(unhealthyMs)
          }
          const there = state.instancesInAll === 1
          if (there) expect(silenceMs).toBeLessThan(removeMs + 1_000)
          if (there && instance.healthy) expect(silenceMs).toBeLessThan(unhealthyMs + 1_000)
        }
        expect(state.instancesInAll).toBe(0)
      }),
    )
  })
})

describe('a beat', () => {
  test('for an unknown instance or service has the result unknown', () => {
    const source = { serviceKey: ORDERS, ...address() }
    expect(beat(beatPartsOf(state), source, at(0))).toEqual({ kind: 'unknown' })
    registered(state)
    expect(beat(beatPartsOf(state), { ...source, port: 81 }, at(0))).toEqual({ kind: 'unknown' })
    expect(beat(beatPartsOf(state), { ...source, cluster: 'other' }, at(0))).toEqual({ kind: 'unknown' })
  })

  test('without a cluster renews the ip and port in every cluster', () => {
    const one = registered(state)
    const two = registered(state, { address: address({ cluster: 'c2' }) })
    const other = registered(state, { address: address({ cluster: 'c2', port: 81 }) })
    const source = { serviceKey: ORDERS, ...address(), cluster: undefined }
    const result = beat(beatPartsOf(state), source, at(5_000))
    expect(result.kind === 'renewed' && result.instances).toEqual([one, two])
    expect([one, two, other].map((instance) => lastBeatMs(state, instance))).toEqual([5_000, 5_000, 0])
  })

  test('with a cluster renews the instance in this cluster only', () => {
    const one = registered(state)
    const two = registered(state, { address: address({ cluster: 'c2' }) })
    beat(beatPartsOf(state), { serviceKey: ORDERS, ...address({ cluster: 'c2' }) }, at(5_000))
    expect([lastBeatMs(state, one), lastBeatMs(state, two)]).toEqual([0, 5_000])
  })

  test('does not make a persistent instance healthy', () => {
    registered(state, { ephemeral: false, healthy: false })
    const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(1))
    expect(result).toMatchObject({ kind: 'renewed', healed: [] })
  })

  test('is recognized by its fingerprint until its instance leaves', () => {
    registered(state, { address: address({ cluster: 'c2' }) })
    const source = { serviceKey: ORDERS, ...address(), fingerprint: 'beat?a' }
    expect(beatAgain(livenessOf(state), 'beat?a', at(0))).toBeUndefined()
    beat(beatPartsOf(state), source, at(0))
    expect(beatAgain(livenessOf(state), 'beat?a', at(0))).toBeUndefined()
    const instance = registered(state)
    beat(beatPartsOf(state), source, at(1_000))
    expect(beatAgain(livenessOf(state), 'beat?a', at(5_000))?.instances).toEqual([instance])
    expect(lastBeatMs(state, instance)).toBe(5_000)
    deregistered(state, {}, at(5_000))
    expect(beatAgain(livenessOf(state), 'beat?a', at(6_000))).toBeUndefined()
    const next = registered(state)
    expect(beatAgain(livenessOf(state), 'beat?a', at(6_000))).toBeUndefined()
    beat(beatPartsOf(state), source, at(7_000))
    expect(beatAgain(livenessOf(state), 'beat?a', at(8_000))?.instances).toEqual([next])
  })

  test('that is recognized by its fingerprint makes its instance healthy', () => {
    registered(state)
    beat(beatPartsOf(state), { serviceKey: ORDERS, ...address(), fingerprint: 'beat?a' }, at(0))
    sweepUntil(state, 16_000)
    expect(beatAgain(livenessOf(state), 'beat?a', at(17_000))?.healed).toMatchObject([{ healthy: true }])
  })

  test('is recognized by its last fingerprint only, and never without a cluster', () => {
    registered(state)
    const source = { serviceKey: ORDERS, ...address() }
    beat(beatPartsOf(state), { ...source, fingerprint: 'first' }, at(0))
    beat(beatPartsOf(state), { ...source, fingerprint: 'second' }, at(0))
    expect(beatAgain(livenessOf(state), 'first', at(0))).toBeUndefined()
    expect(beatAgain(livenessOf(state), 'second', at(0))).toBeDefined()
    beat(beatPartsOf(state), { ...source, cluster: undefined, fingerprint: 'anywhere' }, at(0))
    expect(beatAgain(livenessOf(state), 'anywhere', at(0))).toBeUndefined()
  })
})
