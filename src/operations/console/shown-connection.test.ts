import { beforeEach, expect, test } from 'vitest'
import { address, at, livenessOf, livingState, registered } from '../../core/core.test-support.ts'
import { MEMBER } from '../../core/cluster/members/member-records.ts'
import { VERSIONS } from '../../core/cluster/members/versions.test-support.ts'
import { LiveProcesses } from '../../core/cluster/members/live-processes.ts'
import { connectionPublisher } from '../../core/naming/state/connection-publisher.ts'
import type { ConnectionProcesses } from '../../core/naming/liveness/connection-processes.ts'
import { recordSaved } from '../../core/records/record-kind.ts'
import type { State } from '../../core/engine/state.ts'
import { shownConnection, type ShownConnectionParts } from './shown-connection.ts'

const CLIENT = {
  library: 'Nacos-Java-Client:v2.5.1',
  ip: '10.0.0.7',
  port: 4_000,
  connectedMs: 1_800_000_000_000,
}

let state: State
let parts: ShownConnectionParts & { readonly processes: ConnectionProcesses }
beforeEach(() => {
  state = livingState('this')
  const { processes } = livenessOf(state)
  const clientOf = (id: string) => (id === 'c1' ? CLIENT : undefined)
  parts = { state, processes, connectionInstances: { process: 'this', clientOf } }
})

function shown(process: string, connectionId = 'c1') {
  const publisher = connectionPublisher({ process, connectionId })
  const instance = registered(state, { publisher, address: address() })
  parts.processes.look(0, { isAlive: new LiveProcesses(state, 'this').has, isCertain: true })
  return shownConnection(parts, instance, at(5_000))
}

test('an instance without a connection shows none', () => {
  expect(shownConnection(parts, registered(state), at(0))).toBeUndefined()
})

test('the connection of an instance is shown with its client, if it is on this server', () => {
  expect(shown('this')).toEqual({ where: 'here', client: CLIENT })
  expect(shown('this', 'c2')).toEqual({ where: 'here', client: undefined })
})

test('a client that says nothing is shown with its silence', () => {
  const silence = { silentMs: 9_000, leavesInMs: 14_000 }
  parts = { ...parts, silenceOf: (id) => (id === 'c1' ? silence : undefined) }
  expect(shown('this')).toEqual({ where: 'here', client: CLIENT, silence })
})

test('the connection of an instance is shown with its server, if that is another one', () => {
  const facts = {
    ip: '10.0.0.2',
    port: 8_848,
    peerPort: 1,
    site: '',
    version: '1',
    process: 'other',
    auth: 'on',
    versions: VERSIONS,
  }
  state.apply([recordSaved(MEMBER, { id: '10.0.0.2:8848', value: facts, stamp: 0 })], at(0))
  expect(shown('other')).toEqual({ where: 'elsewhere', server: '10.0.0.2:8848' })
})

test('an instance whose server is gone shows when it is removed', () => {
  expect(shown('gone')).toEqual({ where: 'gone', removedInMs: 35_000 })
})
