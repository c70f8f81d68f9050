import { create, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadSchema } from '../generated/client_pb.js'
import { readMessage, toSend, writeMessage } from './payload.ts'

test('a message is read with its headers by their names in lower case', () => {
  const payload = create(PayloadSchema, {
    metadata: { type: 'ConfigQueryRequest', headers: { accessToken: 'abc' }, clientIp: '10.0.0.1' },
    body: { value: Buffer.from('{"dataId":"a"}') },
  })
  const { type, headers, clientIp, body } = readMessage(toBinary(PayloadSchema, payload))
  expect({ type, headers: [...headers], clientIp }).toEqual({
    type: 'ConfigQueryRequest',
    headers: [['accesstoken', 'abc']],
    clientIp: '10.0.0.1',
  })
  expect(Buffer.from(body).toString()).toBe('{"dataId":"a"}')
})

test('a message of no bytes has no type and no body', () => {
  expect(readMessage(new Uint8Array())).toMatchObject({ type: '', clientIp: '' })
})

test('a message that is written is read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const { type, body } = readMessage(Buffer.concat(writeMessage(toSend('SomeResponse', { text }, {}))))
      expect(type).toBe('SomeResponse')
      expect(JSON.parse(Buffer.from(body).toString())).toEqual({ text })
    }),
  )
})

describe('a message that would take long to read is refused at once', () => {
  const headers = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`header-${index}`, 'x']))
  test.each([
    ['of many headers', toBinary(PayloadSchema, create(PayloadSchema, { metadata: { headers } }))],
    [
      'of a long type',
      toBinary(PayloadSchema, create(PayloadSchema, { metadata: { type: 'x'.repeat(70_000) } })),
    ],
    ['of much metadata', Buffer.alloc(10_000, Buffer.from([0x12, 0]))],
    ['of many bodies', Buffer.alloc(10_000, Buffer.from([0x1a, 0]))],
    [
      'of a body of many values',
      Buffer.concat([Buffer.from([0x1a, 0x64]), Buffer.alloc(100, Buffer.from([0x12, 0]))]),
    ],
    ['of unknown fields', Buffer.alloc(10_000, Buffer.from([0x08, 0]))],
  ])('%s', (_, bytes) => {
    expect(() => readMessage(bytes)).toThrow(expect.objectContaining({ code: 'too-large' }))
  })

  test('but not for fields that this server does not know', () => {
    const unknown = Buffer.from([0x08, 1, 0x28, 2, 0x7a, 1, 0x61])
    const known = toBinary(PayloadSchema, create(PayloadSchema, { metadata: { type: 'SomeRequest' } }))
    expect(readMessage(Buffer.concat([unknown, known])).type).toBe('SomeRequest')
  })
})
