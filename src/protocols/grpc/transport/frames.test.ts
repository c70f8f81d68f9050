import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toSend } from '../wire/payload.ts'
import { framed, MessageReader } from './frames.ts'

/** Bytes in the frame of a message. */
function frameOf(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Cuts bytes into pieces of these lengths; the last piece is the rest. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (const length of lengths) pieces.push(bytes.subarray(at, (at += length)))
  return [...pieces, bytes.subarray(at)]
}

describe('the messages of a stream', () => {
  test('equal the sent ones, however the bytes are cut', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 })
    const lengths = fc.array(fc.nat(20), { maxLength: 20 })
    fc.assert(
      fc.property(messages, lengths, (sent, at) => {
        const reader = new MessageReader(40)
        const bytes = Buffer.concat(sent.map((message) => frameOf(message)))
        const read = cut(bytes, at).flatMap((piece) => [...reader.take(piece)])
        expect(read.map((message) => [...message])).toEqual(sent.map((message) => [...message]))
        expect(reader.waitingBytes).toBe(0)
      }),
    )
  })

  test('are framed with their lengths', () => {
    const frame = Buffer.concat(framed(toSend('SomeResponse', { text: 'ü' }, {})))
    const [message] = [...new MessageReader(100).take(frame)]
    expect(message!.length).toBe(frame.length - 5)
    expect(message!.toString()).toContain('{"text":"ü"}')
  })

  test('that are too large are refused by their head', () => {
    const reader = new MessageReader(10)
    expect(() => [...reader.take(frameOf(Buffer.alloc(11)).subarray(0, 5))]).toThrow('at most 10 bytes')
  })

  test('that are compressed are refused', () => {
    const frame = frameOf(Buffer.alloc(3))
    frame[0] = 1
    expect(() => [...new MessageReader(10).take(frame)]).toThrow('Compressed')
  })

  test('that are cut off leave bytes', () => {
    const reader = new MessageReader(10)
    expect([...reader.take(frameOf(Buffer.alloc(8)).subarray(0, 9))]).toEqual([])
    expect(reader.begun.length).toBe(4)
    expect(reader.waitingBytes).toBe(9)
  })

  test('that are a small part of a large piece do not keep all of it', () => {
    const reader = new MessageReader(10_000)
    const came = Buffer.concat([frameOf(Buffer.alloc(8_000)).subarray(0, 5_000), Buffer.alloc(60_000)])
    expect([...reader.take(came.subarray(0, 5_000))]).toEqual([])
    expect(reader.begun.buffer.byteLength).toBeLessThan(10_000)
  })

  test('that come byte by byte are not kept byte by byte', () => {
    const reader = new MessageReader(100_000)
    for (const byte of frameOf(Buffer.alloc(50_000)).subarray(0, 40_000))
      expect([...reader.take(Buffer.from([byte]))]).toEqual([])
    expect(reader.waitingBytes).toBe(40_000)
    expect(reader.waitingPieces).toBeLessThan(50)
  })
})
