import { fromBinary } from '@bufbuild/protobuf'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { Event_EventType } from './generated/kv_pb.js'
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  DeleteRangeResponseSchema,
} from './generated/rpc_pb.js'
import { keyBytes, keyText } from './key-text.ts'
import { toNumber } from './messages.ts'
import type {
  KeyCondition,
  KeyRange,
  KeyValue,
  TxnOperation,
  TxnOperationResult,
  Txn,
  TxnResult,
} from './messages.ts'
import { WireWriter } from './wire-writer.ts'

/*
 * The messages that occur many times in every change: comparisons, operations and their results, keys, and events of
 * watches. They are written and read by hand, because the generic code takes most of the time of a change. `rpc.proto`
 * declares them as bytes, which is the same on the wire. Unknown fields are skipped.
 */

const RESULTS = {
  '=': Compare_CompareResult.EQUAL,
  '!=': Compare_CompareResult.NOT_EQUAL,
  '<': Compare_CompareResult.LESS,
  '>': Compare_CompareResult.GREATER,
} as const

/** Field numbers of the compared property and of its target value. */
const TARGETS = {
  version: { target: Compare_CompareTarget.VERSION, field: 4 },
  create: { target: Compare_CompareTarget.CREATE, field: 5 },
  mod: { target: Compare_CompareTarget.MOD, field: 6 },
  value: { target: Compare_CompareTarget.VALUE, field: 7 },
} as const

/** The bytes of an operation besides its keys and values. */
const SMALL_SIZE = 256

/** A `TxnRequest`. */
export function txnBytes(txn: Txn): Uint8Array {
  const writer = new WireWriter(sizeOfTxn(txn))
  writeTxn(writer, txn)
  return writer.finish()
}

/** An `AuthenticateRequest`. */
export function authenticateBytes({ name, password }: { name: string; password: string }): Uint8Array {
  const writer = new WireWriter(SMALL_SIZE)
  writer.text(2, password)
  writer.text(1, name)
  return writer.finish()
}

/** The token of an `AuthenticateResponse`. */
export function readToken(bytes: Uint8Array): string {
  let token = ''
  readFields(bytes, (reader, field) => {
    if (field !== 2) return false
    token = reader.string()
    return true
  })
  return token
}

function sizeOf(operation: TxnOperation): number {
  if (operation.do === 'put') return SMALL_SIZE + operation.value.length
  if (operation.do !== 'txn') return SMALL_SIZE
  return sizeOfTxn(operation)
}

function sizeOfTxn({ compare, success }: Txn): number {
  return success.reduce((sum, each) => sum + sizeOf(each), (1 + compare.length) * SMALL_SIZE)
}

function writeCompare(writer: WireWriter, { key, end, of, is, to }: KeyCondition): void {
  const { target, field } = TARGETS[of]
  if ((of === 'value') !== (typeof to !== 'number')) throw new Error('Only a value is compared with bytes.')
  if (end !== undefined) writeKey(writer, 64, end)
  if (typeof to === 'number') writer.number(field, to)
  else writer.bytes(field, to)
  writeKey(writer, 3, key)
  writer.number(2, target)
  writer.number(1, RESULTS[is])
}

function writeOperation(writer: WireWriter, operation: TxnOperation): void {
  switch (operation.do) {
    case 'range':
      return writer.message(1, () => {
        if (operation.countOnly === true) writer.number(9, 1)
        writer.number(3, operation.limit ?? 0)
        writeRange(writer, operation)
      })
    case 'put':
      return writer.message(2, () => {
        if (operation.lease !== undefined) writer.long(3, operation.lease)
        writer.bytes(2, operation.value)
        writeKey(writer, 1, operation.key)
      })
    case 'delete':
      return writer.message(3, () => writeRange(writer, operation))
    case 'txn':
      return writer.message(4, () => writeTxn(writer, operation))
  }
}

function writeRange(writer: WireWriter, { key, end }: KeyRange): void {
  if (end !== undefined) writeKey(writer, 2, end)
  writeKey(writer, 1, key)
}

function writeKey(writer: WireWriter, field: number, key: string): void {
  if (key.isWellFormed()) writer.text(field, key)
  else writer.bytes(field, keyBytes(key))
}

function writeTxn(writer: WireWriter, { compare, success, failure = [] }: Txn): void {
  for (const operation of failure.toReversed()) writer.message(3, () => writeOperation(writer, operation))
  for (const operation of success.toReversed()) writer.message(2, () => writeOperation(writer, operation))
  for (const comparison of compare.toReversed()) writer.message(1, () => writeCompare(writer, comparison))
}

/** The first byte of the answer to a put: field 2, of bytes. Most answers are one, and nothing in it is read. */
const PUT = 0x12

/** Reads a `ResponseOp`. */
function readResult(bytes: Uint8Array): TxnOperationResult {
  if (bytes[0] === PUT) return { did: 'put' }
  const reader = new BinaryReader(bytes)
  const [field] = reader.tag()
  const part = reader.bytes()
  if (field === 1) return readRange(part)
  if (field === 3)
    return { did: 'delete', deleted: toNumber(fromBinary(DeleteRangeResponseSchema, part).deleted) }
  if (field === 4) return { did: 'txn', ...readTxnResult(part) }
  throw new Error('etcd sent a response that this client does not know.')
}

function readRange(bytes: Uint8Array): TxnOperationResult {
  const kvs: KeyValue[] = []
  let [more, count] = [false, 0]
  readFields(bytes, (reader, field) => {
    if (field === 2) kvs.push(readKeyValue(reader.bytes()))
    else if (field === 3) more = reader.bool()
    else if (field === 4) count = readNumber(reader)
    else return false
    return true
  })
  return { did: 'range', kvs, count, more }
}

/** A `TxnResponse`. A nested transaction's response has no revision: the whole transaction has one. */
export function readTxnResult(bytes: Uint8Array): TxnResult {
  const results: TxnOperationResult[] = []
  let [revision, succeeded] = [0, false]
  readFields(bytes, (reader, field) => {
    if (field === 1) revision = readRevision(reader.bytes())
    else if (field === 2) succeeded = reader.bool()
    else if (field === 3) results.push(readResult(reader.bytes()))
    else return false
    return true
  })
  return { revision, succeeded, results }
}

/** The revision in a `ResponseHeader`. */
function readRevision(bytes: Uint8Array): number {
  let revision = 0
  readFields(bytes, (reader, field) => {
    if (field !== 3) return false
    revision = readNumber(reader)
    return true
  })
  return revision
}

/** A key of a `KeyValue`. */
export function readKeyValue(bytes: Uint8Array): KeyValue {
  let key = ''
  let value: Uint8Array = NO_BYTES
  let [createRevision, modRevision, version, lease] = [0, 0, 0, 0n]
  readFields(bytes, (reader, field) => {
    if (field === 1) key = keyText(reader.bytes())
    else if (field === 2) createRevision = readNumber(reader)
    else if (field === 3) modRevision = readNumber(reader)
    else if (field === 4) version = readNumber(reader)
    else if (field === 5) value = reader.bytes()
    else if (field === 6) lease = BigInt(reader.int64())
    else return false
    return true
  })
  return { key, value, createRevision, modRevision, version, lease }
}

/** Reads an `Event` of a watch; `kv` of a deletion has only its key and revision. */
export function readEvent(bytes: Uint8Array): { readonly isDeletion: boolean; readonly kv: KeyValue } {
  let isDeletion = false
  let kv: KeyValue | undefined
  readFields(bytes, (reader, field) => {
    if (field === 1) isDeletion = reader.int32() === Event_EventType.DELETE
    else if (field === 2) kv = readKeyValue(reader.bytes())
    else return false
    return true
  })
  if (kv === undefined) throw new Error('etcd sent an event without a key.')
  return { isDeletion, kv }
}

const NO_BYTES = new Uint8Array()

/** Reads a message; `read` reads the value of a field, or returns false if it does not know the field. */
function readFields(bytes: Uint8Array, read: (reader: BinaryReader, field: number) => boolean): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (!read(reader, field)) reader.skip(type, field)
  }
}

function readNumber(reader: BinaryReader): number {
  return toNumber(BigInt(reader.int64()))
}
