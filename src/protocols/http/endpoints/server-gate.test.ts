import { expect, test } from 'vitest'
import type { State } from '../../../core/engine/state.ts'
import type { Route } from '../routing/route.ts'
import { serverGate } from './server-gate.ts'

const state = { switches: { limitedUrlMap: { '/svc/v1/cs': 410 } } } as unknown as State
const route = { permission: { action: 'read', resource: 'config' } } as Route

test.each([
  ['/svc/v1/cs/configs?dataId=d', 410],
  ['http://127.0.0.1:8848/svc/v1/cs/configs?dataId=d', 410],
  ['HTTP://other/svc/v1/cs/configs', 410],
  ['/svc/v1/ns/service?x=http://a/svc/v1/cs', undefined],
])('a closed URL is closed in every form of the request target: %s', (url, status) => {
  expect(serverGate(state)(route, url)?.status).toBe(status)
})

test('naming is closed while this server alone is cut off from the store', () => {
  let reason: string | undefined = 'no lease'
  const gate = serverGate(state, () => (reason === undefined ? undefined : { reason }))
  const naming = { permission: { action: 'write', resource: 'naming' } } as Route
  expect(() => gate(naming, '/svc/v1/ns/instance/beat')).toThrow('no lease')
  expect(gate(route, '/svc/v1/ns/other')).toBeUndefined()
  reason = undefined
  expect(gate(naming, '/svc/v1/ns/instance/beat')).toBeUndefined()
})
