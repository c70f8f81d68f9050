import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  data,
  frame,
  OK,
  open,
  ping,
  PREFACE_AND_SETTINGS,
  rst,
  settings,
  TestConnection,
  whole,
  windowUpdate,
} from './connection.test-support.ts'
import { FLAG } from './protocol.ts'

const streamId = fc.constantFrom(1, 3, 5, 7)
const body = fc.integer({ min: 0, max: 300 }).map((length) => Buffer.alloc(length, 'x'))
const someFrame = fc.oneof(
  streamId.map((id) => open(id)),
  streamId.map((id) => whole(id)),
  fc
    .tuple(streamId, body, fc.constantFrom(0, FLAG.endStream))
    .map(([id, bytes, end]) => data(id, bytes, end)),
  streamId.map((id) => rst(id)),
  streamId.map((id) => windowUpdate(id, 100)),
  fc.constant(ping()),
  fc.constant(settings([4, 1_000])),
  fc
    .tuple(fc.nat(12), fc.nat(9), fc.uint8Array({ maxLength: 20 }))
    .map(([type, id, payload]) => frame(type, id, { payload: Buffer.from(payload) })),
)
const cuts = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })), {
  minLength: 1,
  maxLength: 30,
})

/** The events that bytes cause which come in pieces of these lengths, again and again, and all that is sent after them. */
function eventsOf(bytes: Buffer, lengths: readonly number[]): unknown[] {
  const client = new TestConnection({
    begin: Buffer.alloc(0),
    onOpen: (stream) => {
      stream.respond(OK)
      stream.write(Buffer.alloc(40))
    },
  })
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const length = lengths[index % lengths.length]!
    client.connection.receive(bytes.subarray(at, at + length), 0)
    at += length
  }
  client.flush()
  return [client.events, client.sent.map(({ type, flags, streamId: id }) => [type, flags, id])]
}

test('the same bytes cause the same, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(someFrame, { maxLength: 12 }), cuts, (frames, lengths) => {
      const bytes = Buffer.concat([PREFACE_AND_SETTINGS, ...frames])
      expect(eventsOf(bytes, lengths)).toEqual(eventsOf(bytes, [bytes.length]))
    }),
    { numRuns: 500 },
  )
})

test('bytes that come one by one cost no more memory or time than a few copies', () => {
  const client = new TestConnection().receive(open(1))
  for (const byte of data(1, Buffer.alloc(16_384, 'x'))) client.connection.receive(Buffer.from([byte]), 0)
  expect(client.events.at(-1)).toBe(`1 data ${'x'.repeat(16_384)}`)
})
