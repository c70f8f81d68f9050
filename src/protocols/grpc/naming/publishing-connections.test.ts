import { beforeEach, expect, test } from 'vitest'
import { ANONYMOUS } from '../../../core/access/identity.ts'
import type { EndReason } from '../connections/client-connection.ts'
import type { RequestContext } from '../requests/request-type.ts'
import { PublishingConnections } from './publishing-connections.ts'

let released: object[]
let connections: PublishingConnections
beforeEach(() => {
  released = []
  const permission = { action: 'write', resource: 'public' } as const
  const release = (request: object): void => void released.push(request)
  connections = new PublishingConnections(Object.assign(release, { permission }))
})

/** A call on a connection that the test ends. */
function call(id: string, version = 'Nacos-Go-Client:v2.3.5') {
  const onEnd: ((why: EndReason) => void)[] = []
  const client = { version }
  const connection = {
    id,
    client,
    signedInMs: 1_000,
    beganMs: 500,
    onEnd: (ended: (why: EndReason) => void) => void onEnd.push(ended),
  }
  const end = (why: EndReason): void => onEnd.forEach((ended) => ended(why))
  return {
    call: { connection, caller: { ip: '', identity: ANONYMOUS } } as unknown as RequestContext,
    end,
    onEnd,
  }
}

test('a connection is asked once to say when it ends', () => {
  const { call: one, onEnd } = call('1')
  expect([connections.idOf(one), connections.idOf(one)]).toEqual(['1', '1'])
  expect(onEnd).toHaveLength(1)
})

test.each([
  ['left', [{ connectionId: '1', comesBack: false, beganMs: 500 }]],
  ['moved', [{ connectionId: '1', comesBack: true }]],
  ['signed-out', [{ connectionId: '1', comesBack: true }]],
  ['stopping', []],
] as const)('what a connection has published when it has %s is released as %j', (why, expected) => {
  const { call: one, end } = call('1')
  connections.idOf(one)
  end(why)
  expect(released).toEqual(expected)
})

test('the Java library has a minute and some more to sign in again', () => {
  const { call: one, end } = call('1', 'Nacos-Java-Client:v2.5.1')
  connections.idOf(one)
  end('signed-out')
  expect(released).toEqual([{ connectionId: '1', comesBack: true, returnsByMs: 81_000 }])
})
