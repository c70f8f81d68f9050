import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportFaultsTo } from '../core/unexpected.ts'
import type { ProbeParams } from './adaptive-interval.ts'
import type { ProbeResult, ProbeTarget } from './conversation.ts'
import { Prober, type WatchedTarget } from './prober.ts'

const tcpAt = (port: number, owner = 'public/g/s'): WatchedTarget => {
  const [namespaceId = '', group, service] = owner.split('/')
  const key = { namespaceId, groupedName: `${group}@@${service}` }
  return { service: key, host: '10.0.0.1', port, checker: { type: 'TCP' } }
}
const turn = (): Promise<void> => new Promise((done) => setImmediate(() => setImmediate(done)))
const interval = { max: 5000, min: 1000, factor: 0.75 }

/** A prober whose clock and probes the test controls. */
class Rig {
  now = 0
  params: ProbeParams = { enabled: true, checkTimes: 3, http: interval, tcp: interval, mysql: interval }
  readonly started: number[] = []
  readonly reports: [key: string, healthy: boolean][] = []
  readonly prober: Prober
  #ending: { port: number; end: (result: ProbeResult) => void }[] = []

  constructor(
    limit = 10,
    report = (key: string, healthy: boolean) => void this.reports.push([key, healthy]),
  ) {
    this.prober = new Prober({
      limit,
      report,
      now: () => this.now,
      random: () => 0,
      params: () => this.params,
      log: { info: () => {} },
      probe: ({ port }) => {
        this.started.push(port)
        return new Promise((end) => this.#ending.push({ port, end }))
      },
    })
  }

  get running(): number {
    return this.#ending.length
  }

  async advance(byMs: number): Promise<void> {
    this.now += byMs
    this.prober.tick()
    await turn()
  }

  async end(outcome: ProbeResult['outcome'], ...ports: number[]): Promise<void> {
    const chosen = this.#ending.filter(({ port }) => ports.length === 0 || ports.includes(port))
    this.#ending = this.#ending.filter((running) => !chosen.includes(running))
    for (const { end } of chosen) end({ outcome, reason: '', elapsedMs: 1 })
    await turn()
  }

  /** One probe of each due target, all with this outcome. */
  async round(outcome: ProbeResult['outcome'], afterMs = 1000): Promise<void> {
    await this.advance(afterMs)
    await this.end(outcome)
  }
}

let rig: Rig
beforeEach(() => void (rig = new Rig()))

test('a new target is first probed after its first delay, then after each interval', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  await rig.advance(999)
  expect(rig.started).toEqual([])
  await rig.advance(1)
  expect(rig.started).toEqual([1])
  await rig.advance(60_000)
  expect(rig.started).toEqual([1]) // not again while it runs
  await rig.end('up')
  await rig.advance(999)
  expect(rig.started).toEqual([1])
  await rig.advance(1)
  expect(rig.started).toEqual([1, 1])
})

test('a new health is reported after checkTimes equal results, with the current value of the switch', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  await rig.round('down')
  await rig.round('down')
  expect(rig.reports).toEqual([])
  await rig.round('down')
  expect(rig.reports).toEqual([['a', false]])
  rig.params = { ...rig.params, checkTimes: 1 }
  await rig.round('up')
  expect(rig.reports).toEqual([
    ['a', false],
    ['a', true],
  ])
})

test('a refused connection is reported at once', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  await rig.round('down-now')
  expect(rig.reports).toEqual([['a', false]])
})

test('at most limit probes run, the longest due first, and slow ones do not delay others', async () => {
  const rig = new Rig(2)
  rig.prober.watch('slow', tcpAt(1), true)
  rig.now = 1
  for (const port of [2, 3, 4]) rig.prober.watch(`t${port}`, tcpAt(port), true)
  await rig.advance(2000)
  expect(rig.started).toHaveLength(2)
  expect(rig.started[0]).toBe(1)
  for (let i = 0; i < 3; i++) {
    await rig.end('up', 2, 3, 4)
    expect(rig.running).toBeLessThanOrEqual(2)
  }
  expect(new Set(rig.started)).toEqual(new Set([1, 2, 3, 4]))
})

test.each([
  ['other/g/s', 'one/g/s'],
  ['public/h/s', 'public/g/s'],
  ['public/g/t', 'public/g/s'],
])('a probe of %s starts at most a timeout late beside 1,500 dead hosts of %s', async (owner, other) => {
  const [timeoutMs, alive] = [500, 9_999]
  const rig = new Rig(64)
  for (let port = 0; port < 1_500; port++) rig.prober.watch(`dead${port}`, tcpAt(port, other), true)
  rig.prober.watch('alive', tcpAt(alive, owner), true)
  const endsAt = new Map<number, number>()
  const waits: number[] = []
  let dueMs = interval.min
  for (let ms = 0; ms < 20_000; ms += 100) {
    await rig.advance(100)
    for (const port of rig.started.splice(0)) {
      endsAt.set(port, rig.now + (port === alive ? 0 : timeoutMs))
      if (port === alive) waits.push(rig.now - dueMs)
    }
    const ended = [...endsAt].filter(([, endMs]) => endMs <= rig.now).map(([port]) => port)
    for (const port of ended) endsAt.delete(port)
    if (ended.includes(alive)) dueMs = rig.now + interval.min
    if (ended.length > 0) await rig.end('up', ...ended)
  }
  expect(waits.length).toBeGreaterThan(10)
  expect(Math.max(...waits)).toBeLessThanOrEqual(timeoutMs + 100)
})

test('the result of a forgotten or replaced target is dropped', async () => {
  rig.prober.watch('gone', tcpAt(1), true)
  rig.prober.watch('moved', tcpAt(2), true)
  await rig.advance(1000)
  rig.prober.forget('gone')
  rig.prober.watch('moved', tcpAt(3), true)
  await rig.end('down-now')
  expect(rig.reports).toEqual([])
  await rig.round('down-now')
  expect(rig.started.slice(2)).toEqual([3])
  expect(rig.reports).toEqual([['moved', false]])
})

test('watching an equal target again keeps its time and its count, and sets its health', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  for (let i = 0; i < 3; i++) {
    await rig.advance(900)
    rig.prober.watch('a', tcpAt(1), true)
    await rig.round('down', 100)
  }
  expect(rig.reports).toEqual([['a', false]])
  rig.prober.watch('a', tcpAt(1), true) // the health is set from outside
  await rig.round('down-now')
  expect(rig.reports).toHaveLength(2)
})

test('a changed checker makes a new target, and the checker NONE ends the probes', async () => {
  const http = (path: string): WatchedTarget => ({
    ...tcpAt(1),
    checker: { type: 'HTTP', path, headers: '', expectedResponseCode: 200 },
  })
  rig.prober.watch('a', http('/x'), true)
  await rig.round('down')
  await rig.round('down')
  rig.prober.watch('a', http('/y'), true)
  await rig.round('down')
  expect(rig.reports).toEqual([])
  rig.prober.watch('a', { ...tcpAt(1), checker: { type: 'NONE' } }, true)
  await rig.advance(60_000)
  expect(rig.started).toHaveLength(3)
})

test('while probing is disabled, no probe starts and nothing is reported', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  await rig.advance(1000)
  rig.params = { ...rig.params, enabled: false }
  await rig.end('down-now')
  await rig.advance(60_000)
  expect(rig.started).toEqual([1])
  expect(rig.reports).toEqual([])
  rig.params = { ...rig.params, enabled: true }
  await rig.round('down-now', 0)
  expect(rig.reports).toEqual([['a', false]])
})

test('changed bounds also apply to the current wait', async () => {
  rig.params = { ...rig.params, tcp: { max: 3_600_000, min: 3_600_000, factor: 0.5 } }
  rig.prober.watch('a', tcpAt(1), true)
  await rig.round('up', 3_700_000)
  await rig.advance(100)
  rig.params = { ...rig.params, tcp: { max: 50, min: 20, factor: 0.5 } }
  await rig.advance(0)
  expect(rig.started).toEqual([1, 1])
})

/** The boundaries of the faults that are reported from now on. */
function faults(): string[] {
  const reported: string[] = []
  reportFaultsTo({ caught: (boundary) => void reported.push(boundary), fatal: () => undefined })
  return reported
}

afterEach(() => reportFaultsTo(undefined))

test('a report that throws is a fault, and other targets are still probed', async () => {
  const reported = faults()
  const rig = new Rig(10, () => {
    throw new Error('no')
  })
  rig.prober.watch('a', tcpAt(1), true)
  await rig.round('down-now')
  await rig.round('up')
  expect(reported).toEqual(['probe'])
  expect(rig.started).toEqual([1, 1])
})

test('a probe that fails by a fault of the server counts as down, and its target is probed again', async () => {
  const reported = faults()
  let started = 0
  let now = 0
  const found: boolean[] = []
  const prober = new Prober({
    limit: 10,
    report: (_key, healthy) => void found.push(healthy),
    now: () => now,
    random: () => 0,
    params: () => ({ ...new Rig().params, checkTimes: 1 }),
    log: { info: () => {} },
    probe: () => (started++, Promise.reject(new Error('planted'))),
  })
  prober.watch('a', tcpAt(1), true)
  for (let round = 0; round < 3; round++) {
    now += 5_000
    prober.tick()
    await turn()
  }
  expect(started).toBe(3)
  expect(reported).toEqual(['probe', 'probe', 'probe'])
  expect(prober.counts()).toMatchObject({ running: 0, up: 0, down: 3 })
  expect(found).toEqual([false])
})

test('closing waits for running probes and drops their results', async () => {
  rig.prober.watch('a', tcpAt(1), true)
  await rig.advance(1000)
  let closed = false
  const closing = rig.prober.close().then(() => (closed = true))
  await turn()
  expect(closed).toBe(false)
  await rig.end('down-now')
  await closing
  await rig.advance(60_000)
  expect(rig.started).toEqual([1])
  expect(rig.reports).toEqual([])
})

test('all of 100,000 targets are probed, few at a time', async () => {
  const rig = new Rig(256)
  for (let port = 0; port < 100_000; port++) rig.prober.watch(`k${port}`, tcpAt(port), true)
  await rig.advance(1000)
  expect(rig.started.length).toBeLessThanOrEqual(256)
  for (let ms = 0; ms < 60_000 && rig.started.length < 100_000; ms += 100) {
    await rig.advance(100)
    for (let turns = 0; turns < 8; turns++) await turn()
    expect(rig.running).toBeLessThanOrEqual(256)
    await rig.end('up')
  }
  expect(new Set(rig.started).size).toBe(100_000)
  for (let port = 0; port < 100_000; port++) rig.prober.forget(`k${port}`)
  await rig.advance(60_000)
  expect(rig.running).toBe(0)
}, 30_000)

test('at most about 2000 probes start per second', async () => {
  const rig = new Rig(100_000)
  for (let port = 0; port < 50_000; port++) rig.prober.watch(`k${port}`, tcpAt(port), true)
  await rig.advance(1000)
  for (let ms = 0; ms < 3000; ms += 100) {
    await rig.advance(100)
    await rig.end('up')
  }
  expect(rig.started.length).toBeLessThanOrEqual(6300)
})

test('a probe that fails by a fault of the server counts as down, is logged, and ends alone', async () => {
  const errors = faults()
  const found: ProbeTarget[] = []
  let nowMs = 0
  const prober = new Prober({
    limit: 10,
    now: () => nowMs,
    random: () => 0,
    params: () => ({ enabled: true, checkTimes: 1, http: interval, tcp: interval, mysql: interval }),
    report: () => {},
    log: { info: () => {} },
    probe: (target) => {
      if (target.port === 1) throw new Error('thrown at once')
      if (target.port === 2) return Promise.reject(new Error('rejected'))
      found.push(target)
      return Promise.resolve({ outcome: 'up', reason: '', elapsedMs: 1 })
    },
  })
  for (const port of [1, 2, 3]) prober.watch(String(port), tcpAt(port), true)
  nowMs = 10_000
  prober.tick()
  await turn()
  expect(prober.counts()).toMatchObject({ running: 0, down: 2, up: 1 })
  expect(errors).toHaveLength(2)
  expect(found).toHaveLength(1)
})
