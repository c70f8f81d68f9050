import { expect, test } from 'vitest'
import type { PushTarget } from '../../core/clients/push-sender.ts'
import { PushDeliveries } from './push-deliveries.ts'

function fixture() {
  const clock = { nowMs: 0 }
  const server = { enabled: true }
  const sent: number[] = []
  const deliveries = new PushDeliveries({
    loop: { now: () => clock.nowMs, soon: (run) => run() },
    transmit: (_target, packet) => void sent.push(packet.lastRefTime),
    enabled: () => server.enabled,
  })
  const pass = (ms: number) => {
    for (const endMs = clock.nowMs + ms; clock.nowMs < endMs;) {
      clock.nowMs += 500
      deliveries.tick(clock.nowMs)
    }
  }
  const send = (target: PushTarget, lastRefTime: number) => deliveries.send(target, packetOf(lastRefTime))
  return { clock, server, sent, deliveries, pass, send }
}

const packetOf = (lastRefTime: number) => ({ lastRefTime, datagram: Buffer.from('x') })

function targetAt(port: number): PushTarget & { subscribed: boolean } {
  const learnt = { newestRef: 0, lastAckMs: -Infinity, silentSinceMs: undefined }
  return { address: '10.0.0.1', port, agent: '', subscribed: true, ...learnt }
}

test('an acked push is not sent again', () => {
  const { deliveries, pass, send, sent } = fixture()
  const target = targetAt(1)
  send(target, 7)
  deliveries.acked(7, target)
  pass(60_000)
  expect(sent).toEqual([7])
  expect(deliveries.counts()).toEqual({ sent: 1, acked: 1, resent: 0, failed: 0 })
  expect(deliveries.awaited).toBe(0)
})

test('without an ack a push is sent once more after 10 s, and given up 10 s later', () => {
  const { deliveries, pass, send, sent, clock } = fixture()
  const target = targetAt(1)
  send(target, 7)
  pass(9_500)
  expect(sent).toEqual([7])
  pass(1_000)
  expect(sent).toEqual([7, 7])
  pass(9_000)
  expect(target.silentSinceMs).toBeUndefined()
  pass(1_500)
  expect(target.silentSinceMs).toBeLessThanOrEqual(clock.nowMs)
  pass(60_000)
  expect(sent).toEqual([7, 7])
  expect(deliveries.counts()).toEqual({ sent: 1, acked: 0, resent: 1, failed: 1 })
})

test('an ack of the second sending ends it, and a client that had been silent counts as there again', () => {
  const { deliveries, pass, send } = fixture()
  const target = targetAt(1)
  target.silentSinceMs = 0
  send(target, 7)
  pass(12_000)
  deliveries.acked(7, target)
  pass(20_000)
  expect(target.silentSinceMs).toBeUndefined()
  expect(deliveries.counts().failed).toBe(0)
})

test('an ack from elsewhere, or of another push, does not count', () => {
  const { deliveries, pass, send } = fixture()
  const target = targetAt(1)
  send(target, 7)
  deliveries.acked(7, { address: '10.0.0.1', port: 2 })
  deliveries.acked(7, { address: '10.0.0.2', port: 1 })
  deliveries.acked(8, target)
  pass(21_000)
  expect(deliveries.counts()).toMatchObject({ acked: 0, failed: 1 })
})

test('only the newest push is sent again', () => {
  const { pass, send, sent } = fixture()
  const target = targetAt(1)
  send(target, 7)
  send(target, 8)
  pass(30_000)
  expect(sent).toEqual([7, 8, 8])
})

test('a client that acks some of its pushes is not silent', () => {
  const { deliveries, pass, send } = fixture()
  const target = targetAt(1)
  send(target, 7)
  pass(1_000)
  send(target, 8)
  deliveries.acked(8, target)
  pass(30_000)
  expect(target.silentSinceMs).toBeUndefined()
  expect(deliveries.counts()).toMatchObject({ acked: 1, failed: 1 })
})

test('a client that acks no push of many is found silent, however often they come', () => {
  const { pass, send } = fixture()
  const target = targetAt(1)
  for (let ref = 1; ref <= 25; ref++) {
    send(target, ref)
    pass(1_000)
  }
  expect(target.silentSinceMs).toBeDefined()
})

test('nothing is sent again to who has gone, or while pushes are switched off', () => {
  const { pass, send, sent, server } = fixture()
  const gone = targetAt(1)
  send(gone, 7)
  gone.subscribed = false
  pass(30_000)
  expect(sent).toEqual([7])
  send(targetAt(2), 8)
  server.enabled = false
  pass(30_000)
  expect(sent).toEqual([7, 8])
})
