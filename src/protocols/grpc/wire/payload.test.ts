import { create, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
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
      const { type, body } = readMessage(writeMessage(toSend('SomeResponse', { text }, {})))
      expect(type).toBe('SomeResponse')
      expect(JSON.parse(Buffer.from(body).toString())).toEqual({ text })
    }),
  )
})
