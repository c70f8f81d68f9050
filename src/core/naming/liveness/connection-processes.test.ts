import { beforeEach, describe, expect, test } from 'vitest'
import { address, at, livenessOf, livingState, registered } from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { connectionOf, connectionPublisher } from '../state/connection-publisher.ts'
import { BEATS, type Publisher } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'
import { type ConnectionProcesses, ORPHAN_MS, orphansLeave } from './connection-processes.ts'

const GONE = connectionPublisher({ process: 'gone', connectionId: '1' })
const HERE = connectionPublisher({ process: 'here', connectionId: '1' })

let state: State
let alive: string[]
let processes: ConnectionProcesses
beforeEach(() => {
  state = livingState()
  alive = ['here']
  processes = livenessOf(state).processes
})

function publish(port: number, publisher = GONE, ms = 0): Instance {
  const isGone = (other: Publisher): boolean => processes.isGone(connectionOf(other)?.process ?? '')
  return registered(state, { publisher, isGone, address: address({ port }) }, at(ms))
}

function look(ms: number, isCertain = true): void {
  processes.look(ms, { isAlive: (process) => alive.includes(process), isCertain })
}

/** The ports of the orphans taken at this time, in slices of `most`. */
function taken(ms: number, { isCertain = true, most = 100 } = {}): number[] {
  look(ms, isCertain)
  const found: Instance[] = []
  do found.push(...processes.takeOrphans(ms, most, () => true))
  while (processes.hasMore)
  return found.map(({ record }) => record.address.port)
}

test('the name of a connection is found in its publisher', () => {
  expect(connectionOf(HERE)).toEqual({ process: 'here', connectionId: '1' })
  expect(connectionOf({ kind: 'connection', id: 'old' })).toEqual({ process: '', connectionId: 'old' })
  expect(connectionOf(BEATS)).toBeUndefined()
})

test('a process that refuses connections is gone, and keeps its instances until the store says so', () => {
  processes.follow((process) => process === 'gone')
  publish(1)
  alive.push('gone')
  expect(taken(0)).toEqual([])
  expect(taken(2 * ORPHAN_MS)).toEqual([])
  expect([processes.isGone('gone'), processes.isGone('here')]).toEqual([true, false])
  expect(publish(1, HERE).record.claims).toBeUndefined()
})

describe('an instance of a connection whose process is gone', () => {
  test('is taken 40 s after that was learned, and not before', () => {
    publish(1)
    publish(2, HERE)
    publish(3, BEATS)
    expect(taken(10_000)).toEqual([])
    expect(processes.orphans).toBe(1)
    expect(taken(10_000 + ORPHAN_MS - 1)).toEqual([])
    expect(taken(10_000 + ORPHAN_MS)).toEqual([1])
  })

  test('says how long it is kept', () => {
    const [orphan, other] = [publish(1), publish(2, HERE)]
    look(10_000)
    expect(processes.leftMs(orphan, 15_000)).toBe(ORPHAN_MS - 5_000)
    expect(processes.leftMs(other, 15_000)).toBeUndefined()
  })

  test('is no orphan any more when another publisher takes it over', () => {
    publish(1)
    publish(2)
    look(0)
    publish(1, HERE, 1_000)
    publish(2, BEATS, 1_000)
    expect(taken(ORPHAN_MS)).toEqual([])
    expect(processes.orphans).toBe(0)
  })

  test('is no orphan any more when its process is back, and has its full time when that goes again', () => {
    publish(1)
    look(0)
    alive.push('gone')
    expect(taken(ORPHAN_MS)).toEqual([])
    alive.pop()
    expect(taken(60_000)).toEqual([])
    expect(taken(60_000 + ORPHAN_MS)).toEqual([1])
  })

  test('has its full time after a registration that comes later than the news', () => {
    publish(1)
    look(0)
    publish(2, GONE, 20_000)
    expect(taken(ORPHAN_MS)).toEqual([])
    expect(taken(20_000 + ORPHAN_MS)).toEqual([1, 2])
  })

  test('has its full time after this server was not certain of who is alive, or has missed news', () => {
    publish(1)
    look(0)
    expect(taken(30_000, { isCertain: false })).toEqual([])
    expect(taken(60_000)).toEqual([])
    expect(taken(30_000 + ORPHAN_MS)).toEqual([1])
    look(70_000, false)
    expect(taken(80_000)).toEqual([])
    expect(taken(70_000 + ORPHAN_MS)).toEqual([1])
  })

  test('is looked at again a second later, if it was not this server that removes it', () => {
    publish(1)
    look(0)
    expect(processes.takeOrphans(ORPHAN_MS, 10, () => false)).toEqual([])
    expect(taken(ORPHAN_MS + 999)).toEqual([])
    expect(taken(ORPHAN_MS + 1_000)).toEqual([1])
  })
})

test('very many orphans are taken in slices, without the instances that are taken over meanwhile', () => {
  for (let port = 1; port <= 1_000; port++) publish(port)
  look(0)
  let slices = 0
  const found: Instance[] = []
  do {
    const some = processes.takeOrphans(ORPHAN_MS, 100, () => true)
    expect(some.length).toBeLessThanOrEqual(100)
    found.push(...some)
    if (slices++ === 0) publish(1_000, HERE, ORPHAN_MS)
    state.apply(
      some.flatMap((instance) => orphansLeave(state, instance, { leaves: () => true, stamp: 0 })),
      at(ORPHAN_MS),
    )
  } while (processes.hasMore)
  expect(found).toHaveLength(999)
  expect(state.instancesInAll).toBe(1)
  expect(slices).toBe(10)
})
