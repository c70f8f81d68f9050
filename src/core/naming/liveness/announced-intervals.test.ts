import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  registered,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { importSwitch, setSwitch } from '../../operator/set-switch.ts'
import { recordSaved } from '../../records/record-kind.ts'
import { ANNOUNCED_INTERVAL } from '../../switches/announced-interval.ts'
import { isShorterThanInterval } from '../state/beat-timing.ts'
import { beat } from './beat.ts'

let state: State
beforeEach(() => void (state = livingState()))

const set = (value: number, ms = 0, localOnly = false) =>
  carryOut(state, setSwitch('clientBeatInterval', String(value), localOnly), at(ms))

/** The changes by silence until then, with a beat every `everyMs` until `lastMs`. */
function seen(untilMs: number, { everyMs = Infinity, lastMs = Infinity, fromMs = 0 } = {}): string[] {
  const found: string[] = []
  for (let ms = fromMs; ms <= untilMs; ms += 250) {
    if (ms > 0 && ms <= lastMs && ms % everyMs === 0) {
      const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(ms))
      state.apply(result.kind === 'renewed' ? result.healed : [], at(ms))
    }
    for (const change of livenessOf(state).sweep(at(ms), () => true)) {
      if (change.kind !== 'record-saved')
        found.push(`${change.kind === 'instance-removed' ? 'removed' : 'unhealthy'} ${ms}`)
      state.apply([change], at(ms))
    }
  }
  return found
}

const timeout = (ms: number) => ({ 'preserved.heart.beat.timeout': String(ms) })
const interval = (ms: number) => ({ 'preserved.heart.beat.interval': String(ms) })

describe('silence while the switch has a value', () => {
  test.each([
    [500, {}, 'unhealthy 15000', 'removed 30000'],
    [5_000, {}, 'unhealthy 15000', 'removed 30000'],
    [5_000, timeout(3_000), 'unhealthy 3000', 'removed 30000'],
    [6_000, timeout(3_000), 'unhealthy 13000', 'removed 30000'],
    [7_000, {}, 'unhealthy 15000', 'removed 30000'],
    [20_000, {}, 'unhealthy 41000', 'removed 41500'],
    [20_000, interval(2_000), 'unhealthy 15000', 'removed 30000'],
    [60_000, timeout(150_000), 'removed 121000'],
    [60_000, {}, 'unhealthy 121000', 'removed 121500'],
  ])('of %s ms counts with %o as %s', (value, metadata, ...expected) => {
    set(value)
    registered(state, { metadata })
    expect(seen(160_000)).toEqual(expected)
  })

  test.each([5_000, 7_500, 20_000, 35_000, 60_000])(
    'changes nothing for a client that beats every %s ms as it was asked to',
    (everyMs) => {
      set(everyMs)
      registered(state)
      expect(seen(everyMs * 4, { everyMs })).toEqual([])
    },
  )

  test('counts so for instances that were registered before the switch was set', () => {
    registered(state)
    set(20_000, 1_000)
    expect(seen(50_000)).toEqual(['unhealthy 41000', 'removed 41500'])
  })

  test('counts so for a client of HTTP whose address a connection has', () => {
    set(20_000)
    registered(state)
    const instance = registered(state, { publisher: { kind: 'connection', id: 'c1' } })
    seen(41_000)
    expect(instance.record.claims).toHaveLength(1)
    seen(41_750, { fromMs: 41_250 })
    expect(instance.record.claims).toBeUndefined()
  })
})

describe('after the switch was lowered', () => {
  test('a client that beats as it was asked before loses nothing, though a beat is lost', () => {
    set(20_000)
    registered(state)
    seen(20_000, { everyMs: 20_000 })
    set(5_000, 20_000)
    expect(seen(60_000, { everyMs: 60_000, fromMs: 20_250 })).toEqual([])
  })

  test('waits are the usual ones for an instance that is silent later', () => {
    set(20_000)
    registered(state)
    set(5_000, 1_000)
    expect(seen(100_000, { everyMs: 5_000, lastMs: 35_000 })).toEqual(['unhealthy 50000', 'removed 65000'])
  })

  test('it is noticed at once when the interval before does not count any more', () => {
    set(60_000)
    registered(state)
    set(5_000, 1_000)
    expect(seen(130_000, { everyMs: 5_000, lastMs: 100_000 })).toEqual(['unhealthy 122000', 'removed 130000'])
  })

  test('the longest interval of several counts', () => {
    set(30_000)
    registered(state)
    set(10_000, 1_000)
    set(5_000, 2_000)
    expect(livenessOf(state).announced.at(62_000)).toBe(30_000)
    expect(livenessOf(state).announced.at(63_000)).toBe(5_000)
  })

  test.each([
    ['by an import', () => carryOut(state, importSwitch('clientBeatInterval', '5', true), at(1_000)), 500],
    ['for this server alone', () => set(5_000, 1_000, true), 5_000],
    [
      'in a batch',
      () => carryOut(state, setSwitch('batch', '{"clientBeatInterval":700}', false), at(1_000)),
      700,
    ],
  ])('%s, the value before counts', (_, lower, after) => {
    set(20_000)
    lower()
    expect(livenessOf(state).announced.at(41_999)).toBe(20_000)
    expect(livenessOf(state).announced.at(42_000)).toBe(after)
  })

  test.each([
    ['it counts for the rest of its time', { localOnly: false, passedMs: 30_000, leftMs: 12_000 }],
    ['nothing of it counts later', { localOnly: false, passedMs: 50_000, leftMs: 0 }],
    [
      'a value of that server alone has its whole time',
      { localOnly: true, passedMs: 50_000, leftMs: 41_000 },
    ],
  ])('and after a restart %s', (_, { localOnly, passedMs, leftMs }) => {
    set(20_000, 0, localOnly)
    if (!localOnly) set(5_000, 1_000)
    const records = Array.from(state.records(ANNOUNCED_INTERVAL))
    const restarted = livingState()
    for (const [id, value] of records)
      restarted.apply([recordSaved(ANNOUNCED_INTERVAL, { id, value, stamp: at(0).stamp })], {
        ...at(passedMs),
        stamp: at(passedMs + 60_000).stamp,
        healthMs: 0,
      })
    const { announced } = livenessOf(restarted)
    expect(announced.at(leftMs - 1)).toBe(leftMs === 0 ? 5_000 : 20_000)
    expect(announced.at(leftMs)).toBe(5_000)
  })
})

test.each([
  [timeout(3_000), 5_000, true],
  [timeout(3_000), 2_000, false],
  [timeout(3_000), 20_000, false],
  [{ ...timeout(3_000), ...interval(5_000) }, 5_000, false],
  [{}, 5_000, false],
])(
  'with %o and an interval of %s ms it is %s that the wait is shorter',
  (metadata, announcedMs, isShorter) => {
    expect(isShorterThanInterval(registered(state, { metadata }).timing, announcedMs)).toBe(isShorter)
  },
)
