import { describe, expect, test } from 'vitest'
import type { Change, InstanceRemoved } from '../../decisions/changes.ts'
import type { Command } from '../../decisions/decision.ts'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  registered,
} from '../../core.test-support.ts'
import { firstStampOf, type Now } from '../../decisions/stamps.ts'
import type { State } from '../../engine/state.ts'
import { deregisterInstance, liftSettings, modifyInstance, setHealth } from '../commands/instance-commands.ts'
import { updateMetadata } from '../commands/metadata-commands.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { registerInstance } from '../commands/register-instance.ts'
import { type LostService, newestLosses } from './lost-services.ts'
import { TimelineRing } from './timeline-ring.ts'
import { Timeline, type TimelineRequest } from './timeline.ts'

const OPS = { user: 'ops', ip: '10.9.9.9' }

/** A state whose changes a timeline sees. */
function seen(): { state: State; timeline: Timeline; nowMs: number } {
  const state = livingState()
  const timeline = new Timeline({ startMs: at(0).wallMs, probeText: () => '503' })
  const apply = state.apply.bind(state)
  state.apply = (changes: Iterable<Change>, now): void => {
    const all = Array.from(changes)
    for (const change of all) timeline.see(change, state, now)
    apply(all, now)
    timeline.seen(state)
  }
  return { state, timeline, nowMs: 5 }
}

function asked<T>(world: ReturnType<typeof seen>, what: TimelineRequest['what'], command: Command<T>): void {
  const request = { what, key: ORDERS, address: address(), actor: OPS }
  world.timeline.during(request, () => carryOut(world.state, command, at(world.nowMs)))
}

const said = (timeline: Timeline): string[] =>
  timeline
    .of(ORDERS)
    .entries.map(({ kind, cause, actor, text }) => [kind, cause, actor?.user, text].filter(Boolean).join(' '))
    .toReversed()

const patch = { weight: undefined, enabled: undefined, metadata: undefined, maxMetadataBytes: 1000 }
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

describe('a timeline', () => {
  test('shows actions of clients', () => {
    const { state, timeline } = seen()
    registered(state)
    registered(state, { enabled: false, weight: 2 })
    registered(state, { metadata: { a: 'b' }, enabled: false, weight: 2 })
    carryOut(state, deregisterInstance(target), at(5))
    expect(said(timeline)).toEqual([
      'registered registration',
      'disabled registration',
      'weight registration 1 → 2',
      'metadata registration',
      'removed deregistration',
    ])
  })

  test.each(['deregistration', 'registration', undefined] as const)(
    'shows that an instance of a connection left, and why: %s',
    (cause) => {
      const { state, timeline } = seen()
      const publisher = { kind: 'connection', id: 'this/a' } as const
      const { serial } = registered(state, { publisher }).record
      const about = { serviceKey: ORDERS, address: address(), serial, stamp: at(5).stamp } as const
      const leave = (): void =>
        state.apply([{ kind: 'instance-removed', reason: 'deregistered', ...about }], at(5))
      const other = { ...publisher, id: 'this/b' }
      timeline.whileLeaving({ serviceKey: ORDERS, publisher: other, cause: 'registration' }, () =>
        cause === undefined
          ? leave()
          : timeline.whileLeaving({ serviceKey: ORDERS, publisher, cause }, leave),
      )
      expect(said(timeline).at(-1)).toBe(`removed ${cause ?? 'connection'}`)
    },
  )

  test('shows the effects of silence and of a beat', () => {
    const { state, timeline } = seen()
    const instance = registered(state)
    const all = () => true
    state.apply(livenessOf(state).sweep(at(16_000), all), at(16_000))
    const { address: where, serial } = instance.record
    const stamp = at(17_000).stamp
    const change = { serviceKey: ORDERS, address: where, serial, healthy: true, stamp }
    state.apply([{ kind: 'instance-health-changed', ...change }], at(17_000))
    state.apply([{ kind: 'instance-health-changed', ...change }], at(17_000))
    state.apply(livenessOf(state).sweep(at(60_000), all), at(60_000))
    expect(said(timeline).slice(0, 3)).toEqual([
      'registered registration',
      'unhealthy silence',
      'healthy beat',
    ])
    expect(said(timeline).at(-1)).toBe('removed silence')
    expect(timeline.of(ORDERS).entries[0]?.atMs).toBe(at(60_000).wallMs)
  })

  test('shows who asked, and the result of a probe', () => {
    const world = seen()
    const { state, timeline } = world
    registered(state, { ephemeral: false })
    asked(world, 'modify', modifyInstance(target, { ...patch, enabled: false, weight: 3 }))
    const locator = { ...address(), ephemeral: false }
    const batch = { serviceKey: ORDERS, consistencyType: undefined, instances: [locator], maxBytes: 1000 }
    asked(world, 'modify', updateMetadata({ ...batch, keys: { a: 'b' } }))
    const { serial } = state.instance(ORDERS, address())!.record
    const stamp = at(6).stamp
    const change = { serviceKey: ORDERS, address: address(), serial, healthy: false, stamp }
    state.apply([{ kind: 'instance-health-changed', ...change }], at(6))
    world.nowMs = 7
    asked(world, 'deregister', deregisterInstance(target))
    expect(said(timeline)).toEqual([
      'registered registration',
      'disabled operator ops',
      'weight operator ops 1 → 3',
      'metadata operator ops',
      'unhealthy probe 503',
      'removed deregistration ops',
    ])
  })

  test('shows who lifts what operators have set, once', () => {
    const world = seen()
    registered(world.state, { weight: 2 })
    asked(world, 'modify', modifyInstance(target, { ...patch, weight: 3, metadata: { a: 'b' } }))
    for (const _twice of [1, 2]) asked(world, 'lift', liftSettings(target))
    expect(said(world.timeline).slice(3)).toEqual(['weight operator ops 3 → 2', 'lifted operator ops'])
    asked(world, 'modify', modifyInstance(target, { ...patch, weight: 3 }))
    registered(world.state, { weight: 2 }, at(6))
    expect(said(world.timeline).slice(5)).toEqual(['weight operator ops 2 → 3', 'weight registration 3 → 2'])
  })

  test('does not name a person for actions of others meanwhile, or later', () => {
    const world = seen()
    registered(world.state)
    asked(world, 'health', modifyInstance(target, { ...patch, weight: 2 }))
    carryOut(world.state, modifyInstance(target, { ...patch, weight: 3 }), at(6))
    expect(() => asked(world, 'health', setHealth({ ...target, ephemeral: false }, true))).toThrow(
      'not found',
    )
    expect(said(world.timeline).slice(1)).toEqual(['weight operator 1 → 2', 'weight operator 2 → 3'])
  })

  test('keeps services apart', () => {
    const { state, timeline } = seen()
    registered(state)
    carryOut(
      state,
      registerInstance({
        serviceKey: { ...ORDERS, namespaceId: 'dev' },
        address: address(),
        ephemeral: true,
        weight: 1,
        enabled: true,
        healthy: undefined,
        metadata: {},
        app: '',
      }),
      at(1),
    )
    expect(timeline.of(ORDERS).entries).toHaveLength(1)
    expect(timeline.of({ ...ORDERS, groupedName: 'G@@none' }).entries).toEqual([])
  })
})

test('times of a timeline are no later than the clock where stamps are ahead, and entries keep the order of stamps', () => {
  const { state, timeline } = seen()
  /** A minute ahead, as after a crash. */
  const ahead = (ms: number): Now => ({ ...at(60_000 + ms), wallMs: at(5).wallMs, healthMs: 5 })
  registered(state, {}, ahead(0))
  carryOut(state, modifyInstance(target, { ...patch, enabled: false, actor: OPS }), ahead(1))
  const overrides = state.record(
    REMEMBERED_METADATA,
    rememberedId({ serviceKey: ORDERS, address: address() }),
  )?.settings
  carryOut(state, deregisterInstance(target), ahead(2))
  const { entries } = timeline.of(ORDERS)
  expect(entries.map(({ kind, atMs }) => [kind, atMs - at(0).wallMs])).toEqual([
    ['removed', 5],
    ['disabled', 5],
    ['registered', 5],
  ])
  expect(overrides?.map(({ atMs }) => atMs)).toEqual([at(5).wallMs])
  expect(timeline.lost.at(at(5).wallMs).map(({ atMs }) => atMs)).toEqual([at(5).wallMs])
  const { changedMs = 0, lastRefMs = 0 } = state.services.get(ORDERS) ?? {}
  expect([changedMs, lastRefMs > at(60_000).wallMs]).toEqual([at(5).wallMs, true])
})

test('a ring keeps the last ones, and says from when on', () => {
  const ring = new TimelineRing(3, 0)
  const add = (atMs: number): void =>
    ring.add(ORDERS, {
      stamp: atMs,
      atMs,
      kind: 'healthy',
      cause: 'beat',
      address: address(),
      actor: undefined,
      text: '',
    })
  for (const atMs of [1, 2, 3]) add(atMs)
  expect([ring.fromMs, ring.of(ORDERS).map(({ atMs }) => atMs)]).toEqual([0, [3, 2, 1]])
  for (const atMs of [4, 5]) add(atMs)
  expect([ring.fromMs, ring.of(ORDERS).map(({ atMs }) => atMs)]).toEqual([2, [5, 4, 3]])
})

test('clients that are not signed in do not drive actions of people out of a timeline', () => {
  const world = seen()
  const { state, timeline } = world
  registered(state)
  asked(world, 'modify', modifyInstance(target, { ...patch, weight: 7 }))
  const request = { what: 'deregister', key: ORDERS, address: address() } as const
  for (let turn = 0; turn < 10_001; turn++) {
    timeline.during({ ...request, actor: { user: null, ip: '10.0.0.7' } }, () =>
      carryOut(state, deregisterInstance(target), at(turn)),
    )
    registered(state)
  }
  expect(said(timeline)).toContain('weight operator ops 1 → 7')
})

describe('a service whose last instance left', () => {
  const HOURS_MS = 3_600_000
  const lostAt = ({ timeline }: ReturnType<typeof seen>, ms: number) =>
    timeline.lost.at(at(ms).wallMs).map(({ key, cause }) => [key.groupedName, cause])
  const LOST = [[ORDERS.groupedName, 'deregistration']]
  /** A loss that a server has noted with its own clock. */
  const loss = (ms: number, cause: LostService['cause']): LostService => {
    const { wallMs } = at(ms)
    const atMs = cause === 'connection' ? wallMs : wallMs - 9
    return { key: ORDERS, stamp: firstStampOf(wallMs), atMs, address: address(), cause }
  }
  const SILENT = [[ORDERS.groupedName, 'silence']]
  /** All instances leave in one step. */
  function allLeave({ state }: ReturnType<typeof seen>, reason: InstanceRemoved['reason']): void {
    const removed = Array.from(state.instances(ORDERS), ({ record }): InstanceRemoved => {
      const { address: where, serial } = record
      return {
        kind: 'instance-removed',
        serviceKey: ORDERS,
        address: where,
        serial,
        reason,
        stamp: at(5).stamp,
      }
    })
    state.apply(removed, at(5))
  }
  /** The events, each with its name. */
  const STEPS = {
    comes: ({ state }) => void registered(state),
    another: ({ state }) => void registered(state, { address: address({ port: 2 }) }),
    leaves: ({ state }) => void carryOut(state, deregisterInstance(target), at(5)),
    leaveTogether: (world) => allLeave(world, 'deregistered'),
    fallSilent: (world) => allLeave(world, 'expired'),
    dismissed: ({ timeline }) => timeline.lost.dismiss(ORDERS),
  } satisfies Record<string, (world: ReturnType<typeof seen>) => void>

  test.each([
    [['comes'], []],
    [['comes', 'leaves'], LOST],
    [['comes', 'another', 'leaves'], []],
    [['comes', 'leaves', 'comes'], []],
    [['comes', 'leaves', 'another'], []],
    [['comes', 'another', 'leaveTogether'], LOST],
    [['comes', 'another', 'fallSilent'], SILENT],
    [['comes', 'another', 'leaveTogether', 'comes'], []],
    [['comes', 'leaves', 'dismissed'], []],
    [['comes', 'leaves', 'dismissed', 'comes', 'leaves'], LOST],
  ] as const)('is lost after %j: %j', (steps, lost) => {
    const world = seen()
    for (const step of steps) STEPS[step](world)
    expect(lostAt(world, 6)).toEqual(lost)
  })

  test('that was dismissed is no news until an instance comes', () => {
    const world = seen()
    const isDismissed = () => world.timeline.lost.isDismissed(ORDERS)
    for (const step of ['comes', 'leaves'] as const) STEPS[step](world)
    expect(isDismissed()).toBe(false)
    STEPS.dismissed(world)
    expect(isDismissed()).toBe(true)
    STEPS.comes(world)
    expect(isDismissed()).toBe(false)
  })

  test('is lost when it left, also where no server removed its instance', () => {
    const { state, timeline } = seen()
    const { serial } = registered(state).record
    const removed = { kind: 'instance-removed', serviceKey: ORDERS, address: address(), serial } as const
    state.apply([{ ...removed, reason: 'deregistered', stamp: 0 }], at(7))
    expect(timeline.lost.at(at(8).wallMs).map(({ atMs }) => atMs)).toEqual([at(7).wallMs])
    expect(timeline.of(ORDERS).entries[0]).toMatchObject({ kind: 'removed', atMs: at(7).wallMs })
  })

  test.each([
    [
      'of the same loss the known cause',
      [loss(5, 'deregistration'), loss(5, 'connection')],
      'deregistration',
    ],
    [
      'of the same loss the known cause',
      [loss(5, 'connection'), loss(5, 'deregistration')],
      'deregistration',
    ],
    ['the newest loss', [loss(6, 'connection'), loss(5, 'deregistration')], 'connection'],
  ] as const)('has of several servers %s', (_, noted, cause) => {
    expect(newestLosses(noted).map((one) => one.cause)).toEqual([cause])
  })

  test('is first where it was lost last', () => {
    const other = { ...ORDERS, groupedName: 'other' }
    const noted = [loss(5, 'silence'), { ...loss(6, 'silence'), key: other }, loss(7, 'silence')]
    expect(newestLosses(noted).map(({ key }) => key)).toEqual([ORDERS, other])
  })

  test('is lost for six hours', () => {
    const world = seen()
    for (const step of ['comes', 'leaves'] as const) STEPS[step](world)
    expect(lostAt(world, 6 * HOURS_MS)).toEqual(LOST)
    expect(lostAt(world, 6 * HOURS_MS + 6)).toEqual([])
  })
})
