import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadSchema } from '../support/generated/client_pb.js'
import { readMessage, readMessageHead } from '../../src/protocols/grpc/wire/message-reader.ts'

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

test('a message is read with its headers by their names in lower case', () => {
  const payload = create(PayloadSchema, {
    metadata: { type: 'ConfigQueryRequest', headers: { accessToken: 'abc' }, clientIp: '10.0.0.1' },
    body: { value: Buffer.from('{"dataId":"a"}') },
  })
  const { type, headers, clientIp, body } = readMessage(Buffer.from(toBinary(PayloadSchema, payload)))
  expect({ type, headers: [...headers], clientIp }).toEqual({
    type: 'ConfigQueryRequest',
    headers: [['accesstoken', 'abc']],
    clientIp: '10.0.0.1',
  })
  expect(Buffer.from(body).toString()).toBe('{"dataId":"a"}')
})

test('a message of no bytes has no type and no body', () => {
  expect(readMessage(Buffer.alloc(0))).toMatchObject({ type: '', clientIp: '' })
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
    expect(() => readMessage(Buffer.from(bytes))).toThrow(expect.objectContaining({ code: 'too-large' }))
  })

  test('but not for fields that this server does not know', () => {
    const unknown = Buffer.from([0x08, 1, 0x28, 2, 0x7a, 1, 0x61])
    const known = toBinary(PayloadSchema, create(PayloadSchema, { metadata: { type: 'SomeRequest' } }))
    expect(readMessage(Buffer.concat([unknown, known])).type).toBe('SomeRequest')
  })
})

describe('the generated code reads the same', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 })
  // The generated code loses a header of this name: it has an object for them.
  const name = text.filter((one) => one !== '__proto__')
  const payload = fc.record({
    metadata: fc.record({ type: text, headers: fc.dictionary(name, text, { maxKeys: 3 }), clientIp: text }),
    body: fc.record({ value: fc.uint8Array({ maxLength: 20 }), typeUrl: text }),
  })
  /** As the generated code reads it; undefined for bytes that it cannot read. */
  const generated = (bytes: Uint8Array): unknown => {
    const read = attempt(() => fromBinary(PayloadSchema, bytes))
    if (read === undefined) return undefined
    const { type = '', clientIp = '', headers = {} } = read.metadata ?? {}
    return { type, clientIp, body: [...(read.body?.value ?? [])], headers: Object.keys(headers).length }
  }
  const own = (bytes: Uint8Array): unknown => {
    const read = attempt(() => readMessage(Buffer.from(bytes)))
    if (read === undefined) return undefined
    const { type, clientIp, body, headers } = read
    return { type, clientIp, body: [...body], headers: headers.size }
  }

  test('of messages, also where they come one after the other as one', () => {
    const some = fc.array(payload, { maxLength: 3 })
    fc.assert(
      fc.property(some, (payloads) => {
        const bytes = Buffer.concat(
          payloads.map((one) => toBinary(PayloadSchema, create(PayloadSchema, one))),
        )
        const names = payloads.flatMap(({ metadata }) => Object.keys(metadata.headers))
        // Names that differ in their case alone are one header here.
        fc.pre(new Set(names.map((name) => name.toLowerCase())).size === new Set(names).size)
        expect(own(bytes)).toEqual(generated(bytes))
      }),
    )
  })

  test('of bytes that are none: both refuse what is cut off', () => {
    fc.assert(
      fc.property(payload, fc.nat(), (one, at) => {
        const whole = toBinary(PayloadSchema, create(PayloadSchema, one))
        const bytes = whole.subarray(0, at % (whole.length + 1))
        expect(own(bytes) === undefined).toBe(generated(bytes) === undefined)
      }),
    )
  })
})

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
