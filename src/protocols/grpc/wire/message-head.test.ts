import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { PayloadSchema } from '../generated/client_pb.js'
import { readMessageHead } from './message-head.ts'

function message(headers: Record<string, string>): Buffer {
  const metadata = { type: 'SomeRequest', headers, clientIp: '10.0.0.1' }
  return Buffer.from(
    toBinary(PayloadSchema, create(PayloadSchema, { metadata, body: { value: Buffer.alloc(100) } })),
  )
}

describe('the head of a message', () => {
  test('is read as soon as it has come, and not before', () => {
    const whole = message({ AccessToken: 'x' })
    const bodyAt = whole.length - 104
    for (let length = 0; length < bodyAt; length++)
      expect(readMessageHead(whole.subarray(0, length))).toBeUndefined()
    expect(readMessageHead(whole.subarray(0, bodyAt))).toEqual({
      type: 'SomeRequest',
      headers: new Map([['accesstoken', 'x']]),
      clientIp: '10.0.0.1',
    })
  })

  test('is none where it is very large, or comes after a body', () => {
    expect(readMessageHead(message({ accessToken: 'x'.repeat(70_000) }))).toBeUndefined()
    const whole = message({})
    const body = whole.subarray(whole.length - 104)
    expect(readMessageHead(Buffer.concat([body.subarray(0, 50)]))).toBeUndefined()
    expect(readMessageHead(Buffer.concat([body, whole]))?.type).toBe('SomeRequest')
  })
})
