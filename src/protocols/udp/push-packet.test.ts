import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { MAX_DATAGRAM_BYTES, datagramLimitOf, decodeAck, encodePush } from './push-socket.ts'

const listOf = (filler: string) => Buffer.from(JSON.stringify({ name: 'g@@s', clusters: '', filler }))

test('a packet holds the list answer as a text, and its own number', () => {
  const list = listOf('"quoted" äö 漢字 \u2028')
  const packet = JSON.parse(encodePush(list, 1_795_260_679_277_001)!.toString()) as Record<string, unknown>
  expect(packet).toEqual({ type: 'dom', data: list.toString(), lastRefTime: 1_795_260_679_277_001 })
})

test('a packet of 1,024 bytes is compressed, one of 1,023 is not', () => {
  const empty = encodePush(listOf(''), 1)!.length
  const short = encodePush(listOf('x'.repeat(1_023 - empty)), 1)!
  expect(short).toHaveLength(1_023)
  expect(short[0]).toBe('{'.charCodeAt(0))
  const long = encodePush(listOf('x'.repeat(1_024 - empty)), 1)!
  expect([...long.subarray(0, 2)]).toEqual([0x1f, 0x8b])
  expect(gunzipSync(long)).toHaveLength(1_024)
})

test('a list that fits no datagram has no packet', () => {
  const noise = Array.from({ length: 100_000 }, (_, index) => ((index * 7_919) ** 2).toString(36)).join('')
  expect(encodePush(listOf(noise.slice(0, 400_000)), 1)).toBeUndefined()
  expect(encodePush(listOf('x'.repeat(2_000_000)), 1)).toBeUndefined()
  expect(encodePush(listOf('x'.repeat(500_000)), 1)!.length).toBeLessThan(MAX_DATAGRAM_BYTES)
})

test('an ack names its packet by a number or by digits', () => {
  expect(decodeAck(Buffer.from('{"type":"push-ack","lastRefTime":123,"data":""}'))).toBe(123)
  expect(decodeAck(Buffer.from('{"type": "push-ack", "lastRefTime":"1795260679277001", "data":""}'))).toBe(
    1_795_260_679_277_001,
  )
})

test.each([
  '',
  'hello',
  'null',
  '[]',
  '"push-ack"',
  '{"type":"push-ack"}',
  '{"type":"push-ack","lastRefTime":"1e3"}',
  '{"type":"push-ack","lastRefTime":-1}',
  '{"type":"push-ack","lastRefTime":1.5}',
  '{"type":"push-ack","lastRefTime":["1"]}',
  '{"type":"dom","lastRefTime":123}',
  `{"type":"push-ack","lastRefTime":123,"data":"${'x'.repeat(2_000)}"}`,
])('the datagram %j is no ack', (text) => {
  expect(decodeAck(Buffer.from(text))).toBeUndefined()
})

test('only the Java client and clients that pose as it have room for large datagrams', () => {
  expect(datagramLimitOf('Nacos-Java-Client:v1.4.8')).toBe(65_507)
  expect(datagramLimitOf('Nacos-Go-Client:v1.1.6')).toBe(4_024)
  expect(datagramLimitOf('Nacos-DNS:v1.0.1')).toBe(4_024)
  expect(datagramLimitOf('')).toBe(4_024)
})
