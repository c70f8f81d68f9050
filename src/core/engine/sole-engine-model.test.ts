import { array, assert, asyncProperty, constantFrom, integer, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../decisions/changes.ts'
import { anyCommand } from '../command.test-support.ts'
import { address, at, EngineWorld, microtasks, ORDERS, registration, WALL_MS } from '../core.test-support.ts'
import type { Command } from '../decisions/decision.ts'
import { addressText, type InstanceRecord } from '../naming/state/instance.ts'
import { deregisterInstance, modifyInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { type ServiceKey, serviceKeyText } from '../naming/state/service.ts'
import { deleteService } from '../naming/commands/service-commands.ts'
import { State } from './state.ts'

type Event = 'turn' | 'tick' | 'four ticks' | 'succeed' | 'fail' | 'bad group' | 'sweep' | Command<unknown>

const WEIGHTS = [1, 2, undefined] as const
const serviceKey = constantFrom(ORDERS, { ...ORDERS, namespaceId: 'dev' })
const place = integer({ min: 1, max: 12 }).map((port) => address({ port }))
const target = record({ serviceKey, address: place, ephemeral: constantFrom(undefined) })
const modification = record({
  weight: constantFrom(...WEIGHTS),
  enabled: constantFrom(undefined),
  metadata: constantFrom({ zone: 'a' }, undefined),
  maxMetadataBytes: constantFrom(1_000),
})

/** Commands on instances of a few services; most instances are ephemeral. */
const anyOfInstances = oneof(
  {
    weight: 9,
    arbitrary: record({
      serviceKey,
      address: place,
      app: constantFrom('v1', 'v2'),
      ephemeral: integer({ min: 0, max: 8 }).map((dice) => dice > 0),
    }).map((other) => registerInstance(registration(other))),
  },
  { weight: 3, arbitrary: target.map(deregisterInstance) },
  {
    weight: 2,
    arbitrary: record({ target, modification }).map((one) => modifyInstance(one.target, one.modification)),
  },
  { weight: 1, arbitrary: serviceKey.map(deleteService) },
)

const events = (anyOf: typeof anyCommand) =>
  array(
    oneof(
      { weight: 6, arbitrary: anyOf },
      {
        weight: 5,
        arbitrary: constantFrom<Event>(
          'turn',
          'turn',
          'tick',
          'four ticks',
          'succeed',
          'succeed',
          'fail',
          'bad group',
          'sweep',
        ),
      },
    ),
    { maxLength: 80, size: 'max' },
  )

async function happen(world: EngineWorld, event: Event, answers: Promise<unknown>[]): Promise<void> {
  if (typeof event === 'object') {
    try {
      const outcome = world.engine.execute(event)
      if (outcome instanceof Promise) answers.push(outcome.catch((error: unknown) => error))
    } catch {
      // A refusal.
    }
    return
  }
  if (event === 'turn') return world.turn()
  if (event === 'tick') return world.engine.tick()
  if (event === 'four ticks') {
    for (let tick = 0; tick < 4; tick++) world.engine.tick()
    return
  }
  if (event === 'sweep') {
    world.nowMs += 16_000
    return world.engine.applyBehind(world.liveness.sweep(at(world.nowMs), () => true))
  }
  const [commit] = world.store.pending
  if (commit === undefined) return
  if (event === 'succeed') world.store.succeed()
  else if (event === 'fail') world.store.fail()
  else {
    // A record that is behind is left out when it is bad, which is not what is tested here.
    const group = commit.groups.findLastIndex((one) => !mayBeBehind(one))
    if (group >= 0 && group === commit.groups.length - 1) world.store.refuseGroup(group)
    else world.store.fail()
  }
  await microtasks()
}

/** Whether a change may be written behind: one record of naming alone. */
function mayBeBehind(group: readonly Change[]): boolean {
  return group.length === 1 && /^(instance|service)-/.test(group[0]!.kind)
}

/** The things that a restart would find, as texts. */
function storedOf({ store }: EngineWorld): string[] {
  const rows = [...store.instances.values()].map(({ serviceSerial, record, healthy }) => {
    const service = store.services.get(serviceSerial)
    return `${nameOf(service?.key)} ${rowText(record)} ${healthy}`
  })
  return [
    ...[...store.services.values()].map(({ key, madeBy }) => `${nameOf(key)} ${madeBy}`),
    ...rows,
  ].sort()
}

function knownOf({ state }: Pick<EngineWorld, 'state'>): string[] {
  return [...state.services.all()]
    .flatMap(({ service, instances }) => [
      `${nameOf(service.key)} ${service.madeBy}`,
      ...[...instances.values()].map(
        ({ record, healthy }) => `${nameOf(service.key)} ${rowText(record)} ${healthy}`,
      ),
    ])
    .sort()
}

/** Checks the disk as a crash at this moment would leave it, whatever is still behind. */
function expectSoundDisk({ store, state }: EngineWorld): void {
  const places = new Set<string>()
  for (const { serviceKey: key, serviceSerial, record } of store.instances.values()) {
    const service = store.services.get(serviceSerial)
    // An instance that has left goes with its service when the server starts.
    const isKnown = state.instance(key, record.address)?.record.serial === record.serial
    if (!record.ephemeral || isKnown) expect(service, 'the service of an instance').toBeDefined()
    if (service === undefined) continue
    const where = `${serviceKeyText(key)} ${addressText(record.address)}`
    expect(places, 'only one instance at a place').not.toContain(where)
    places.add(where)
  }
}

/** An instance that was deregistered does not come back, whatever becomes of the commits that are underway or in doubt. */
function expectNoReturn({ store, published }: EngineWorld): void {
  const gone = new Set<number>()
  for (const change of published)
    if (change.kind === 'instance-removed' && change.reason === 'deregistered') gone.add(change.serial)
  for (const found of store.crashes())
    for (const { record } of found) expect(gone, 'deregistered instances').not.toContain(record.serial)
}

/** The times of the services, and how often each has changed. */
type Times = ReadonlyMap<
  string,
  { readonly serial: number; readonly version: number; readonly lastRefMs: number }
>

function timesOf({ services }: State): Times {
  return new Map(
    [...services.all()].map(({ service, version, lastRefMs }) => [
      serviceKeyText(service.key),
      { serial: service.serial, version, lastRefMs },
    ]),
  )
}

/** A change makes the time of its service later; without one it stays. */
function expectRisingTimes(before: Times, after: Times): void {
  for (const [name, { serial, version, lastRefMs }] of after) {
    const was = before.get(name)
    if (was === undefined) continue
    if (serial === was.serial && version === was.version) expect(lastRefMs, name).toBe(was.lastRefMs)
    else expect(lastRefMs, name).toBeGreaterThan(was.lastRefMs)
  }
}

/** Another server that applies the same revisions in their order knows the same: hosts in their order, and times. */
function expectSameElsewhere({ state, revisions }: EngineWorld): void {
  const other = new State(WALL_MS)
  for (const changes of revisions) other.apply(changes, at(0))
  expect(hostsOf(other)).toEqual(hostsOf(state))
  expect(knownOf({ state: other })).toEqual(knownOf({ state }))
  expect(timesOf(other)).toEqual(timesOf(state))
}

function hostsOf({ services }: State): string[][] {
  const entries = [...services.all()].map(({ service, instances }) => [
    serviceKeyText(service.key),
    ...[...instances.values()].map(({ record }) => addressText(record.address)),
  ])
  return entries.sort()
}

test.each([
  // A connection that is gone need not wait until its instances are removed on disk.
  ['anything', anyCommand, false],
  ['instances', anyOfInstances, true],
])(
  'however commands, commits and faults fall (%s), all are answered, no crash finds what cannot be, and the disk has what is known in the end',
  async (_what, anyOf, isGoodbye) => {
    await assert(
      asyncProperty(constantFrom(1, 2, 5, 1_000), events(anyOf), async (mostBehind, story) => {
        const world = new EngineWorld(mostBehind)
        const answers: Promise<unknown>[] = []
        for (const event of story) {
          const before = timesOf(world.state)
          await happen(world, event, answers)
          expectSoundDisk(world)
          if (isGoodbye) expectNoReturn(world)
          expectRisingTimes(before, timesOf(world.state))
        }
        await world.quiet()
        for (let round = 0; round < 20 && world.engine.backlog.behind > 0; round++) await world.flush()
        await Promise.all(answers)
        expect(world.engine.backlog).toEqual({ behind: 0, waiting: 0 })
        // Health that a save leaves as it is stays as it was written before.
        expect(storedOf(world).map(withoutHealth)).toEqual(knownOf(world).map(withoutHealth))
        expectSameElsewhere(world)
      }),
      { numRuns: 150 },
    )
  },
  60_000,
)

function nameOf(key: ServiceKey | undefined): string {
  return key === undefined ? 'nothing' : serviceKeyText(key)
}

function rowText({ address: where, ephemeral, app, weight }: InstanceRecord): string {
  return `${addressText(where)} ${ephemeral} ${app} ${weight}`
}

function withoutHealth(line: string): string {
  return line.replace(/ (true|false|undefined)$/, '')
}
