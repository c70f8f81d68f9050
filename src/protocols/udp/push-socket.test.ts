import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { PushTarget } from '../../core/clients/push-sender.ts'
import { PushSocket } from './push-socket.ts'

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function pushesOn(host: string, log: (message: string, error: Error) => void = () => {}) {
  const pushes = await PushSocket.open({
    host,
    loop: { now: () => performance.now(), soon: (run) => void setImmediate(run) },
    wallMs: () => Date.now(),
    enabled: () => true,
    log,
  })
  closing.push(() => pushes.close())
  return pushes
}

async function client(type: 'udp4' | 'udp6' = 'udp4', address = '127.0.0.1') {
  const socket = createSocket(type)
  socket.bind({ address, port: 0 })
  await once(socket, 'listening')
  closing.push(() => new Promise<void>((resolve) => socket.close(resolve)))
  return socket
}

function targetOf(socket: Socket): PushTarget {
  const { address, port } = socket.address()
  const learnt = { newestRef: 0, lastAckMs: -Infinity, silentSinceMs: undefined }
  return { address, port, agent: 'Nacos-Java-Client:v1.4.8', subscribed: true, ...learnt }
}

async function received(socket: Socket) {
  const [datagram, from] = (await once(socket, 'message')) as [Buffer, { address: string; port: number }]
  const packet = JSON.parse(datagram.toString()) as { type: string; data: string; lastRefTime: number }
  return { packet, from }
}

test('a push arrives, and its ack comes back to the port that it came from', async () => {
  const pushes = await pushesOn('127.0.0.1')
  const socket = await client()
  pushes.send(targetOf(socket), pushes.pack(Buffer.from('{"name":"g@@s"}'))!)
  const { packet, from } = await received(socket)
  expect(packet).toMatchObject({ type: 'dom', data: '{"name":"g@@s"}' })
  expect(from).toMatchObject({ address: '127.0.0.1', port: pushes.ports.get(4) })
  socket.send(`{"type":"push-ack","lastRefTime":"${packet.lastRefTime}","data":""}`, from.port, from.address)
  await expect.poll(() => pushes.counts().acked).toBe(1)
})

test('acks from another socket and datagrams that are no acks are ignored', async () => {
  const log = vi.fn<(message: string, error: Error) => void>()
  const pushes = await pushesOn('127.0.0.1', log)
  const socket = await client()
  const stranger = await client()
  pushes.send(targetOf(socket), pushes.pack(Buffer.from('{}'))!)
  const { packet, from } = await received(socket)
  stranger.send(`{"type":"push-ack","lastRefTime":${packet.lastRefTime}}`, from.port, from.address)
  for (const noise of ['', 'noise', '[', '{"type":"push-ack","lastRefTime":{}}'])
    socket.send(noise, from.port, from.address)
  await sleep(50)
  expect(pushes.counts().acked).toBe(0)
  socket.send(`{"type":"push-ack","lastRefTime":${packet.lastRefTime}}`, from.port, from.address)
  await expect.poll(() => pushes.counts().acked).toBe(1)
  expect(log).not.toHaveBeenCalled()
})

test('packets are numbered upwards, below 2^53', async () => {
  const pushes = await pushesOn('127.0.0.1')
  const numbers = Array.from({ length: 1_000 }, () => pushes.pack(Buffer.from('{}'))!.lastRefTime)
  expect(numbers.every((each, index) => index === 0 || each > numbers[index - 1]!)).toBe(true)
  expect(numbers.every(Number.isSafeInteger)).toBe(true)
})

test('a client that has gone does no harm to the others', async () => {
  const pushes = await pushesOn('127.0.0.1')
  const gone = createSocket('udp4')
  gone.bind({ address: '127.0.0.1', port: 0 })
  await once(gone, 'listening')
  const target = targetOf(gone)
  await new Promise<void>((resolve) => gone.close(resolve))
  const socket = await client()
  for (let count = 0; count < 10; count++) pushes.send(target, pushes.pack(Buffer.from('{}'))!)
  await sleep(20)
  pushes.send(targetOf(socket), pushes.pack(Buffer.from('{"a":1}'))!)
  expect((await received(socket)).packet.data).toBe('{"a":1}')
})

test('a client of the other address family is reported as unreachable', async () => {
  const pushes = await pushesOn('127.0.0.1')
  const target = { ...targetOf(await client()), address: '::1' }
  expect(pushes.fits(target, 10)).toBe(false)
  pushes.send(target, pushes.pack(Buffer.from('{}'))!)
})

test('a server on every address reaches clients of both families', async (context) => {
  const pushes = await pushesOn('::')
  if (!pushes.ports.has(6)) context.skip('this machine has no IPv6')
  for (const socket of [await client(), await client('udp6', '::1')]) {
    expect(pushes.fits(targetOf(socket), 10)).toBe(true)
    pushes.send(targetOf(socket), pushes.pack(Buffer.from('{}'))!)
    const { packet, from } = await received(socket)
    socket.send(`{"type":"push-ack","lastRefTime":${packet.lastRefTime}}`, from.port, from.address)
  }
  await expect.poll(() => pushes.counts().acked).toBe(2)
})

test('a Go client is not granted lists that its buffer cannot hold', async () => {
  const pushes = await pushesOn('localhost')
  const target = { ...targetOf(await client()), agent: 'Nacos-Go-Client:v1.1.6' }
  expect(pushes.fits(target, 4_024)).toBe(pushes.ports.has(4))
  expect(pushes.fits(target, 4_025)).toBe(false)
})

test('an address that cannot be bound is logged once, and no client is reachable', async () => {
  const log = vi.fn<(message: string, error: Error) => void>()
  const pushes = await pushesOn('192.0.2.1', log)
  expect(log).toHaveBeenCalledOnce()
  expect(pushes.fits(targetOf(await client()), 10)).toBe(false)
})

test('nothing is sent, and nothing fails, after closing', async () => {
  const pushes = await pushesOn('127.0.0.1')
  const target = targetOf(await client())
  const packet = pushes.pack(Buffer.from('{}'))!
  await pushes.close()
  pushes.send(target, packet)
  expect(pushes.fits(target, 2)).toBe(false)
})
