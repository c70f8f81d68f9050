import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Event_EventType, EventSchema, KeyValueSchema } from './generated/kv_pb.js'
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  CompareSchema,
  RequestOpSchema,
  ResponseOpSchema,
  TxnRequestSchema,
  TxnResponseSchema,
} from './generated/rpc_pb.js'
import type { Txn } from './messages.ts'
import { readEvent, readKeyValue, readTxnResult, txnBytes } from './wire-messages.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
/** A transaction as the generated code reads it. */
const asSent = (txn: Txn) => fromBinary(TxnRequestSchema, new Uint8Array(txnBytes(txn)))
const plain = (value: Uint8Array) => Buffer.from(value).toString()

/** Revisions and lengths of all sizes. */
const number = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.maxSafeNat())

describe('a written message', () => {
  test('can be read by the generated code', () => {
    const { success } = asSent({
      compare: [],
      success: [
        { do: 'put', key: 'kü', value: bytes('v'), lease: 2n ** 62n + 5n },
        { do: 'delete', key: 'a', end: 'b' },
        { do: 'range', key: 'r', limit: 3, countOnly: true },
        {
          do: 'txn',
          compare: [{ key: 'c', end: 'd', of: 'mod', is: '<', to: 8 }],
          success: [
            { do: 'put', key: '1', value: bytes('x'.repeat(1_000)) },
            { do: 'put', key: '2', value: bytes('') },
          ],
          failure: [{ do: 'range', key: 'f' }],
        },
      ],
    })
    const [put, remove, range, txn] = success.map((one) => fromBinary(RequestOpSchema, one).request)
    expect(put).toMatchObject({ case: 'requestPut', value: { key: bytes('kü'), lease: 2n ** 62n + 5n } })
    expect(remove).toMatchObject({
      case: 'requestDeleteRange',
      value: { key: bytes('a'), rangeEnd: bytes('b') },
    })
    expect(range).toMatchObject({
      case: 'requestRange',
      value: { key: bytes('r'), rangeEnd: bytes(''), limit: 3n, countOnly: true },
    })
    if (txn?.case !== 'requestTxn') throw new Error('This is no transaction.')
    expect(fromBinary(CompareSchema, txn.value.compare[0]!)).toMatchObject({ key: bytes('c') })
    const puts = txn.value.success.map((one) => fromBinary(RequestOpSchema, one).request)
    expect(puts.map((one) => one.case === 'requestPut' && plain(one.value.key))).toEqual(['1', '2'])
    expect(puts[0]).toMatchObject({ value: { value: bytes('x'.repeat(1_000)) } })
    expect(txn.value.failure).toHaveLength(1)
  })

  test('has all comparisons, with numbers of any size', () => {
    fc.assert(
      fc.property(number, fc.constantFrom('create', 'mod', 'version'), (to, of) => {
        const { compare } = asSent({
          compare: [{ key: 'k', end: 'l', of, is: '>', to }],
          success: [],
        })
        const read = fromBinary(CompareSchema, compare[0]!)
        const field = { create: 'createRevision', mod: 'modRevision', version: 'version' }[of]
        expect(read).toMatchObject({ key: bytes('k'), rangeEnd: bytes('l'), result: 1 })
        expect(read.targetUnion).toEqual({ case: field, value: BigInt(to) })
      }),
    )
    const { compare } = asSent({
      compare: [{ key: 'k', of: 'value', is: '!=', to: bytes('v') }],
      success: [],
    })
    expect(fromBinary(CompareSchema, compare[0]!)).toMatchObject({
      result: Compare_CompareResult.NOT_EQUAL,
      target: Compare_CompareTarget.VALUE,
      targetUnion: { case: 'value', value: bytes('v') },
    })
  })

  test('grows with its content', () => {
    const key = 'k'.repeat(10_000)
    const { success } = asSent({ compare: [], success: [{ do: 'put', key, value: bytes(key) }] })
    const { request } = fromBinary(RequestOpSchema, success[0]!)
    expect(request.case === 'requestPut' && [plain(request.value.key), plain(request.value.value)]).toEqual([
      key,
      key,
    ])
  })

  test('compares only values with bytes', () => {
    const compare = [{ key: 'k', of: 'mod', is: '=', to: bytes('1') } as const]
    expect(() => asSent({ compare, success: [] })).toThrow('Only a value')
  })
})

describe('a received message', () => {
  test('is a key as the generated code writes it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.uint8Array(),
        fc.tuple(number, number),
        (key, value, [one, other]) => {
          const wire = create(KeyValueSchema, {
            key: bytes(key),
            value,
            createRevision: BigInt(one),
            modRevision: BigInt(other),
            version: 3n,
            lease: -5n,
          })
          const { value: read, ...rest } = readKeyValue(toBinary(KeyValueSchema, wire))
          expect(Buffer.from(read)).toEqual(Buffer.from(value))
          expect(rest).toEqual({ key, createRevision: one, modRevision: other, version: 3, lease: -5n })
        },
      ),
    )
  })

  test('is an event, whatever else it has', () => {
    const kv = { key: bytes('k'), modRevision: 7n }
    const deletion = create(EventSchema, { type: Event_EventType.DELETE, kv, prevKv: kv })
    expect(readEvent(toBinary(EventSchema, deletion))).toMatchObject({
      isDeletion: true,
      kv: { key: 'k', modRevision: 7, version: 0 },
    })
    expect(readEvent(toBinary(EventSchema, create(EventSchema, { kv }))).isDeletion).toBe(false)
    expect(() => readEvent(new Uint8Array())).toThrow('without a key')
  })

  test('has the results of each operation', () => {
    const done = (response: Parameters<typeof create<typeof ResponseOpSchema>>[1]) =>
      toBinary(ResponseOpSchema, create(ResponseOpSchema, response))
    const kvs = [toBinary(KeyValueSchema, create(KeyValueSchema, { key: bytes('k') }))]
    const put = done({ response: { case: 'responsePut', value: { header: { revision: 4n } } } })
    const inner = done({ response: { case: 'responseTxn', value: { succeeded: true, responses: [put] } } })
    const responses = [
      put,
      done({ response: { case: 'responseDeleteRange', value: { deleted: 2n } } }),
      done({ response: { case: 'responseRange', value: { kvs, count: 5n, more: true } } }),
      inner,
      done({ response: { case: 'responseTxn', value: {} } }),
    ]
    const response = create(TxnResponseSchema, { header: { revision: 9n }, succeeded: true, responses })
    expect(readTxnResult(toBinary(TxnResponseSchema, response))).toEqual({
      revision: 9,
      succeeded: true,
      results: [
        { did: 'put' },
        { did: 'delete', deleted: 2 },
        { did: 'range', kvs: [expect.objectContaining({ key: 'k' })], count: 5, more: true },
        { did: 'txn', revision: 0, succeeded: true, results: [{ did: 'put' }] },
        { did: 'txn', revision: 0, succeeded: false, results: [] },
      ],
    })
  })
})
