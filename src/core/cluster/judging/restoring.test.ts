import { beforeEach, expect, test } from 'vitest'
import { address, ORDERS } from '../../core.test-support.ts'
import { deregisterInstance } from '../../naming/commands/instance-commands.ts'
import { deleteService } from '../../naming/commands/service-commands.ts'
import { HealthClock } from '../../naming/liveness/health-clock.ts'
import { Cluster, type Member } from './silence-vote.test-support.ts'
import { Restoring } from './restoring.ts'

const WHERE = address()
const target = { serviceKey: ORDERS, address: WHERE, ephemeral: undefined }

let cluster: Cluster
let one: Member
let clock: HealthClock
let restoring: Restoring
beforeEach(() => {
  cluster = new Cluster()
  one = cluster.join(1)
  cluster.join(2)
  cluster.register(WHERE)
  cluster.pass(20_000)
  clock = new HealthClock(0, 250)
  restoring = new Restoring(one.liveness, clock)
})

/** A judge that asks nobody removes the instance. */
function misjudge(): void {
  const { serial } = one.instance(WHERE)!.record
  const about = { serviceKey: ORDERS, address: WHERE, serial, stamp: one.now.stamp }
  cluster.apply([{ kind: 'instance-removed', ...about, reason: 'expired' }])
}

test('an instance that beat in time comes back as it was, with its full time on every server', () => {
  const before = one.instance(WHERE)!
  cluster.beat(one, WHERE)
  misjudge()
  const [restoration] = restoring.due(one.healthMs)
  restoring.settled(restoration!, cluster.execute(one, restoration!.command), one.healthMs)
  for (const member of cluster.members) {
    const instance = member.instance(WHERE)!
    expect(instance.record).toMatchObject({ ...before.record, serial: instance.record.serial })
    expect(instance.healthy).toBe(before.healthy)
    expect(member.liveness.lastBeatMs(instance)).toBe(member.healthMs)
  }
  expect(restoring.counts.restored).toBe(1)
  expect(restoring.due(one.healthMs)).toEqual([])
})

test('its service comes back with it', () => {
  cluster.beat(one, WHERE)
  misjudge()
  cluster.execute(one, deleteService(ORDERS))
  cluster.execute(one, restoring.due(one.healthMs)[0]!.command)
  expect(cluster.members.map(({ state }) => state.service(ORDERS)?.madeBy)).toEqual([
    'registration',
    'registration',
  ])
})

test('an instance that its owner removed, or that did not beat in time, stays away', () => {
  cluster.beat(one, WHERE)
  cluster.execute(one, deregisterInstance(target))
  expect(restoring.due(one.healthMs)).toEqual([])
  cluster.register(WHERE)
  one.healthMs += 30_000
  misjudge()
  expect(restoring.due(one.healthMs)).toEqual([])
})

test('an instance whose client has said goodbye after the silence stays away', () => {
  cluster.beat(one, WHERE)
  misjudge()
  cluster.execute(
    one,
    deregisterInstance(target, undefined, () => target),
  )
  cluster.execute(one, restoring.due(one.healthMs)[0]!.command)
  expect(one.instance(WHERE)).toBeUndefined()
})

test('an instance that was only loaded has not beaten', () => {
  one.liveness.learn(one.instance(WHERE)!, one.healthMs)
  misjudge()
  expect(restoring.due(one.healthMs)).toEqual([])
})

test('an instance whose registration was applied late has not beaten: a server that catches up brings nothing dead back', () => {
  cluster.register(WHERE)
  misjudge()
  expect(restoring.due(one.healthMs)).toEqual([])
})

test('an instance that has registered again is left alone', () => {
  cluster.beat(one, WHERE)
  misjudge()
  const [restoration] = restoring.due(one.healthMs)
  cluster.register(WHERE)
  expect(cluster.execute(one, restoration!.command)).toBe(false)
  restoring.settled(restoration!, false, one.healthMs)
  expect(restoring.counts.restored).toBe(0)
})

test('a server that was frozen does not count beats from before as in time', () => {
  clock.sweep(250)
  one.healthMs = clock.at(300)
  cluster.beat(one, WHERE)
  one.healthMs = clock.sweep(40_300)
  misjudge()
  expect(restoring.due(one.healthMs)).toEqual([])
})

test('a restoration that fails is tried again for as long as the beat counts', () => {
  cluster.beat(one, WHERE)
  misjudge()
  const startMs = one.healthMs
  for (let ms = 0; ms < 30_000; ms += 1_000) {
    const due = restoring.due(startMs + ms)
    expect(due).toHaveLength(1)
    restoring.settled(due[0]!, 'failed', startMs + ms)
    expect(restoring.due(startMs + ms)).toEqual([])
  }
  expect(restoring.due(startMs + 31_000)).toEqual([])
})
