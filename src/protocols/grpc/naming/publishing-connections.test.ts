import { beforeEach, expect, test } from 'vitest'
import { ANONYMOUS } from '../../../core/access/identity.ts'
import type { EndReason } from '../connections/client-connection.ts'
import type { Call } from '../requests/request-type.ts'
import { PublishingConnections } from './publishing-connections.ts'

let released: string[]
let timers: { ms: number; run: () => void }[]
let connections: PublishingConnections
beforeEach(() => {
  released = []
  timers = []
  const release = Object.assign(
    ({ connectionId }: { connectionId: string }) => void released.push(connectionId),
    {
      permission: { action: 'write', resource: 'public' } as const,
    },
  )
  connections = new PublishingConnections({ release, after: (ms, run) => void timers.push({ ms, run }) })
})

/** A call on a connection that the test ends. */
function call(id: string) {
  const onEnd: ((why: EndReason) => void)[] = []
  const connection = { id, onEnd: (ended: (why: EndReason) => void) => void onEnd.push(ended) }
  const end = (why: EndReason): void => onEnd.forEach((ended) => ended(why))
  return { call: { connection, caller: { ip: '', identity: ANONYMOUS } } as unknown as Call, end, onEnd }
}

test('a connection that has left releases its instances, once', () => {
  const { call: one, end, onEnd } = call('1')
  expect([connections.idOf(one), connections.idOf(one)]).toEqual(['1', '1'])
  expect(onEnd).toHaveLength(1)
  end('left')
  expect(released).toEqual(['1'])
})

test('the instances of a client that was moved stay until it has registered elsewhere', () => {
  const { call: one, end } = call('1')
  connections.idOf(one)
  end('moved')
  expect(released).toEqual([])
  expect(timers.map(({ ms }) => ms)).toEqual([35_000])
  timers[0]!.run()
  expect(released).toEqual(['1'])
})

test('a server that stops releases nothing', () => {
  const { call: one, end } = call('1')
  connections.idOf(one)
  end('stopping')
  expect([released, timers]).toEqual([[], []])
})
