/** Ephemeral instances that an import brings: they wait for their clients, and outlast a start. Lists are later than those of the old server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { instanceLine, PLAN_HEAD, planOf, sendPlan } from '../support/plan-lines.ts'
import type { Waypost } from '../support/waypost.ts'

const AHEAD_MS = 30_000

let managed: ManagedWaypost
let waypost: Waypost

beforeAll(async () => {
  managed = await startManaged({ settings: { auth: 'report' } })
  waypost = managed.waypost
})
afterAll(async () => waypost?.stop())

const instanceOf = (port: number, healthy = true) =>
  instanceLine('orders', {
    group: 'DEFAULT_GROUP',
    port,
    ephemeral: true,
    weight: 2,
    healthy,
    metadata: { zone: 'z' },
    seenMs: Date.now(),
  })

async function imported(instances: readonly object[], lastRefMs = 0) {
  const { status, json } = await sendPlan(managed, planOf(instances, { ...PLAN_HEAD, lastRefMs }))
  expect(status).toBe(200)
  return json
}

async function called(method: string, path: string, params: Record<string, string> = {}) {
  const query = new URLSearchParams({ serviceName: 'orders', ...params })
  const response = await fetch(`${waypost.url}/nacos/v1/ns/${path}?${query}`, { method })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

interface Listed {
  readonly lastRefTime: number
  readonly hosts: readonly { readonly port: number; readonly healthy: boolean; readonly weight: number }[]
}
const list = async () => JSON.parse(await called('GET', 'instance/list')) as Listed

/** The port and the health of each listed instance. */
const listed = async () =>
  Object.fromEntries((await list()).hosts.map(({ port, healthy }) => [port, healthy]))

describe('ephemeral instances of an old server', () => {
  test('are listed as healthy as they were, also after a start', async () => {
    const ports = [1, 2, 3, 4].map((port) => instanceOf(port, port !== 2))
    expect(await imported(ports)).toMatchObject({ taken: 4 })
    const asThere = { 1: true, 2: false, 3: true, 4: true }
    expect(await listed()).toEqual(asThere)
    waypost = await waypost.restart()
    expect(await listed()).toEqual(asThere)
    expect((await list()).hosts.map(({ weight }) => weight)).toEqual([2, 2, 2, 2])
  })

  test('are those of their clients, which beat or register', async () => {
    const beat = JSON.parse(
      await called('PUT', 'instance/beat', { ip: '10.0.0.1', port: '2', clusterName: 'DEFAULT' }),
    ) as { code: number }
    expect(beat.code).toBe(10_200)
    await called('POST', 'instance', { ip: '10.0.0.1', port: '3', weight: '5' })
    expect(await listed()).toEqual({ 1: true, 2: true, 3: true, 4: true })
    // A later import takes nothing from them, and lets the others wait again.
    const again = [1, 2, 3].map((port) => instanceOf(port))
    expect(await imported(again)).toMatchObject({ taken: 0, unchanged: 2, kept: 1 })
    expect((await list()).hosts.find(({ port }) => port === 3)?.weight).toBe(5)
  })

  test('leave when their clients say so', async () => {
    await called('DELETE', 'instance', { ip: '10.0.0.1', port: '4' })
    expect(await listed()).toEqual({ 1: true, 2: true, 3: true })
  })
})

test('lists are later than those of an old server whose clock is ahead, also after a start and a crash', async () => {
  const before = (await list()).lastRefTime
  const clockMs = Date.now() + AHEAD_MS
  await imported([], clockMs)
  const raised = (await list()).lastRefTime
  expect(raised).toBeGreaterThanOrEqual(Math.max(before, clockMs))
  await called('POST', 'instance', { ip: '10.0.0.1', port: '5' })
  const changed = (await list()).lastRefTime
  expect(changed).toBeGreaterThan(raised)
  for (const stop of ['stop', 'kill'] as const) {
    await waypost[stop]()
    const oldClockMs = Date.now() + AHEAD_MS
    waypost = await waypost.restart()
    expect((await list()).lastRefTime).toBeGreaterThanOrEqual(Math.max(changed, oldClockMs))
  }
})
