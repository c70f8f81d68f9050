import { expect, test } from 'vitest'
import { address, at, ORDERS, registered, registration, WALL_MS } from '../core/core.test-support.ts'
import type { Change } from '../core/decisions/changes.ts'
import type { Command } from '../core/decisions/decision.ts'
import { deregisterInstance } from '../core/naming/commands/instance-commands.ts'
import { registerInstance } from '../core/naming/commands/register-instance.ts'
import { saveCluster } from '../core/naming/commands/service-commands.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import { setSwitch } from '../core/operator/set-switch.ts'
import { JudgedServices, judgeOf } from '../core/cluster/judging/judged-services.ts'
import { MEMBER, memberIdOf } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { State } from '../core/engine/state.ts'
import { type ProbedTargets, type ProbeRequest, ProbeWatch } from './probe-watch.ts'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import { recordRemoved, recordSaved } from '../core/records/record-kind.ts'

function startWatch(state = new State(WALL_MS), judges?: (key: ServiceKey) => boolean) {
  const probed = new Map<string, ProbeRequest & { healthy: boolean }>()
  const targets: ProbedTargets = {
    watch: (key, request, healthy) => void probed.set(key, { ...request, healthy }),
    forget: (key) => void probed.delete(key),
  }
  const watch = new ProbeWatch(state, targets, judges)
  const run = (command: Command<unknown>) => {
    const { changes } = command.decide(state, at(0))
    state.apply(changes, at(0))
    for (const change of changes) watch.onChange(change)
  }
  const hear = (change: Change) => {
    state.apply([change], at(0))
    watch.onChange(change)
  }
  return { state, probed, watch, run, hear, seen: () => [...probed.values()] }
}

const lasting = (other = {}) => registerInstance(registration({ ephemeral: false, ...other }))
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
const cluster = (other = {}) =>
  saveCluster(ORDERS, {
    name: 'DEFAULT',
    healthChecker: { type: 'HTTP', path: '/up', headers: '', expectedResponseCode: 200 },
    checkPort: 9_000,
    useInstancePort4Check: true,
    metadata: {},
    ...other,
  })

test('persistent instances are probed by TCP at their own port, and ephemeral ones are not probed', () => {
  const { run, seen } = startWatch()
  run(lasting())
  run(registerInstance(registration({ address: address({ port: 81 }) })))
  expect(seen()).toEqual([
    { service: ORDERS, host: '10.0.0.1', port: 80, checker: { type: 'TCP' }, healthy: true },
  ])
})

test('loaded instances are probed from the start', () => {
  const state = new State(WALL_MS)
  registered(state, { ephemeral: false, healthy: false })
  expect(startWatch(state).seen()).toMatchObject([{ port: 80, healthy: false }])
})

test('a new checker and port of a cluster apply at once, and only to that cluster', () => {
  const { run, seen } = startWatch()
  run(lasting())
  run(lasting({ address: address({ cluster: 'other' }) }))
  run(cluster())
  expect(seen()).toMatchObject([
    { port: 80, checker: { type: 'HTTP', path: '/up' } },
    { checker: { type: 'TCP' } },
  ])
  run(cluster({ useInstancePort4Check: false }))
  expect(seen()).toMatchObject([{ port: 9_000 }, { port: 80 }])
})

test('a cluster with the name of an object property is an ordinary cluster', () => {
  const { run, seen } = startWatch()
  run(lasting({ address: address({ cluster: 'constructor' }) }))
  expect(seen()).toMatchObject([{ port: 80, checker: { type: 'TCP' } }])
})

test('an instance that is removed or becomes ephemeral is not probed any more', () => {
  const { run, seen } = startWatch()
  run(lasting())
  run(registerInstance(registration()))
  expect(seen()).toEqual([])
  run(lasting())
  expect(seen()).toHaveLength(1)
  run(deregisterInstance(target))
  expect(seen()).toEqual([])
})

test('only services of the white list are probed while health checks are off', () => {
  const { run, seen } = startWatch()
  run(lasting())
  run(setSwitch('check', 'false', true))
  expect(seen()).toEqual([])
  run(setSwitch('healthCheckWhiteList', 'orders', true))
  expect(seen()).toHaveLength(1)
  run(setSwitch('healthCheckWhiteList', '', true))
  run(lasting({ address: address({ port: 81 }) }))
  expect(seen()).toEqual([])
  run(setSwitch('check', 'true', true))
  expect(seen()).toHaveLength(2)
})

test('a change of health updates the target, and a key finds its instance', () => {
  const { run, hear, seen, probed, watch, state } = startWatch()
  run(lasting())
  const serial = [...state.instances(ORDERS)][0]?.record.serial ?? 0
  const about = { serviceKey: ORDERS, address: address(), serial, healthy: false, stamp: 0 }
  hear({ kind: 'instance-health-changed', ...about })
  expect(seen()).toMatchObject([{ healthy: false }])
  const [key = ''] = probed.keys()
  expect(watch.instanceOf(key)).toBe([...state.instances(ORDERS)][0])
  run(deregisterInstance(target))
  expect(watch.instanceOf(key)).toBeUndefined()
})

test('other kinds of change do not affect the targets', () => {
  const { hear, seen } = startWatch()
  hear(recordRemoved(NAMESPACE, 'dev', 0))
  expect(seen()).toEqual([])
})

test('a verdict that was not written is found again from the health that the instance has', () => {
  const { run, watch, probed } = startWatch()
  run(lasting())
  const [key] = probed.keys()
  probed.get(key!)!.healthy = false
  watch.probeAgain(key!)
  expect(probed.get(key!)!.healthy).toBe(true)
  run(deregisterInstance(target))
  watch.probeAgain(key!)
  expect(probed.size).toBe(0)
})

test('of several servers, the one that judges a service probes it, and another one when the members change', () => {
  const facts = {
    ip: '10.0.0.1',
    peerPort: 1,
    site: '',
    version: '1',
    process: 'p',
    auth: 'on',
    versions: VERSIONS,
  }
  const saved = (port: number) => {
    const value = { ...facts, port }
    return recordSaved(MEMBER, { id: memberIdOf(value), value, stamp: 0 })
  }
  const judge = judgeOf(ORDERS, ['10.0.0.1:1', '10.0.0.1:2'])!
  const watchOf = (self: string) => {
    const state = new State(WALL_MS)
    const server = startWatch(state, new JudgedServices(state, self).judges)
    for (const port of [1, 2]) server.hear(saved(port))
    server.run(lasting())
    return server
  }
  const [mine, other] = [watchOf(judge), watchOf(judge.endsWith('1') ? '10.0.0.1:2' : '10.0.0.1:1')]
  expect([mine, other].map(({ seen }) => seen().length)).toEqual([1, 0])
  for (const { hear } of [mine, other]) hear(recordRemoved(MEMBER, judge, 1))
  expect([mine, other].map(({ seen }) => seen().length)).toEqual([0, 1])
})

test.each([
  ['[::1]', '::1'],
  ['2001:db8::5', '2001:db8::5'],
  ['host', 'host'],
])('a probe of %s connects to %s', (ip, host) => {
  const { run, probed } = startWatch()
  run(lasting({ address: address({ ip }) }))
  expect([...probed.values()]).toMatchObject([{ host }])
})
