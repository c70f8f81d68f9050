import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { Admission } from './admission.ts'

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  writableLength = 0
  isClosed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.isClosed = true
    this.emit('close')
  }
}

let warnings: object[]
let admission: Admission
const most = (maxConnections: number, maxConnectionsPerAddress = 0): void => {
  const log = { warn: (facts: object) => void warnings.push(facts) }
  admission = new Admission({ maxConnections, maxConnectionsPerAddress }, log)
}
beforeEach(() => {
  warnings = []
  most(4)
})

/** A connection from an address, and its place; undefined: it was refused. */
function admit(address: string) {
  const socket = new FakeSocket(address)
  return { socket, place: admission.admit(socket as unknown as Socket) }
}

test('the addresses of an IPv6 /64 are one network, and those of IPv4 are each one', () => {
  const first = admit('2001:db8:0:1::1')
  for (const address of ['2001:db8:0:1::2', '2001:db8:0:1:ffff::3', '10.0.0.1']) admit(address)
  expect(admit('2001:db8:0:2::1').place).toBeDefined()
  expect([first.socket.isClosed, admission.size, admission.refused]).toEqual([true, 4, 1])
  expect(warnings).toEqual([{ refusedSoFar: 1, open: 4 }])
})

test('nobody gives way to one who would have as much', () => {
  for (const address of ['10.0.0.1', '10.0.0.1', '::ffff:10.0.0.2', '10.0.0.2']) admit(address)
  expect(admit('10.0.0.3').place).toBeDefined()
  expect(admit('10.0.0.3').place).toBeUndefined()
  expect(admit('10.0.0.1').place).toBeUndefined()
  expect(admission.size).toBe(4)
})

test('connections in use stay, and so does a connection whose client has not read its answer', () => {
  const [used, unread, idle] = ['10.0.0.1', '10.0.0.1', '10.0.0.1'].map(admit)
  admit('10.0.0.2')
  used!.place!.isKept = true
  unread!.socket.writableLength = 1
  expect(admit('10.0.0.3').place).toBeDefined()
  expect([used, unread, idle].map((each) => each!.socket.isClosed)).toEqual([false, false, true])
  expect(admit('10.0.0.4').place).toBeUndefined()
  unread!.socket.writableLength = 0
  expect(admit('10.0.0.4').place).toBeDefined()
  expect(unread!.socket.isClosed).toBe(true)
  // It is over: what happens to it later makes no difference.
  unread!.place!.isKept = true
  unread!.place!.isKept = false
  expect(admission.size).toBe(4)
})

test('a limit per address refuses before anybody gives way', () => {
  most(4, 2)
  for (const address of ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2']) admit(address)
  expect(admit('10.0.0.1').place).toBeUndefined()
  expect(admit('10.0.0.3').place).toBeDefined()
})

test('a connection of a proxy counts for the address of its latest request', () => {
  const proxied = Array.from({ length: 3 }, () => admit('10.9.9.9'))
  admit('10.0.0.1')
  for (const [at, { place }] of proxied.entries()) admission.usedFor(place!, `10.0.1.${at}`)
  expect(admit('10.0.0.2').place).toBeUndefined()
  admission.usedFor(proxied[0]!.place!, '10.0.1.1')
  expect(admit('10.0.0.2').place).toBeDefined()
  expect(proxied.map(({ socket }) => socket.isClosed)).toEqual([false, true, false])
  // A request that comes while its connection closes changes nothing.
  admission.usedFor(proxied[1]!.place!, '10.0.0.7')
  expect(admission.size).toBe(4)
})
