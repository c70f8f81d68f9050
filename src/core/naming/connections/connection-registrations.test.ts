import { beforeEach, expect, test } from 'vitest'
import { address, ORDERS, refusalOf } from '../../core.test-support.ts'
import { type ConnectionRegistration } from './connection-registration.ts'
import { ConnectionRegistrations } from './connection-registrations.ts'

const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }

let registrations: ConnectionRegistrations
beforeEach(() => void (registrations = new ConnectionRegistrations('this')))

/** A registration of an instance. */
function opened(connectionId: string): ConnectionRegistration {
  const registration = registrations.open(ORDERS, connectionId)
  registration.publish([{ address: address(), ...rest }])
  return registration
}

test('a connection has one registration in a service until that is forgotten', () => {
  const registration = opened('a')
  expect(registrations.open(ORDERS, 'a')).toBe(registration)
  expect(registrations.of('a')).toEqual([registration])
  expect(registrations.counts('a')).toEqual({ services: 1, instances: 1 })
  registrations.forget(registration)
  expect([registrations.size, registrations.of('a')]).toEqual([0, []])
  expect(registrations.counts('a')).toEqual({ services: 0, instances: 0 })
})

test('a registration that is forgotten twice takes no newer one with it', () => {
  const old = opened('a')
  registrations.forget(old)
  const newer = opened('a')
  registrations.forget(old)
  expect(registrations.find(ORDERS, 'a')).toBe(newer)
  expect(registrations.size).toBe(1)
})

test('an ended connection registers nothing, and its instances are known until they are forgotten', () => {
  const registration = opened('a')
  expect([...registrations.close('a')]).toEqual([registration])
  expect([...registrations.close('a')]).toEqual([])
  expect([registrations.size, registrations.find(ORDERS, 'a')]).toEqual([0, undefined])
  expect(refusalOf(() => registrations.open(ORDERS, 'a'))).toBe('stopping')
  expect([...registrations.left()]).toEqual([registration])
  registrations.forget(registration)
  expect([...registrations.left()]).toEqual([])
})

test('ten thousand ended connections are remembered, and the instances that older ones have left', () => {
  const left = opened('first')
  registrations.close('first')
  for (let index = 0; index <= 10_000; index++) registrations.close(`c${index}`)
  for (const id of ['first', 'c10000', 'c2'])
    expect(refusalOf(() => registrations.open(ORDERS, id))).toBe('stopping')
  expect(refusalOf(() => registrations.open(ORDERS, 'c0'))).toBeUndefined()
  expect([...registrations.left()]).toEqual([left])
})
