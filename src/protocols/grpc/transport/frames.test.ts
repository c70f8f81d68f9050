import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { framed, MessageReader } from './frames.ts'

/** Cuts bytes into pieces of these lengths; the last piece is the rest. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (const length of lengths) pieces.push(bytes.subarray(at, (at += length)))
  return [...pieces, bytes.subarray(at)]
}

describe('the messages of a stream', () => {
  test('are those that were sent, however the bytes are cut', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 })
    const lengths = fc.array(fc.nat(20), { maxLength: 20 })
    fc.assert(
      fc.property(messages, lengths, (sent, at) => {
        const reader = new MessageReader(40)
        const bytes = Buffer.concat(sent.flatMap((message) => framed([Buffer.from(message)])))
        const read = cut(bytes, at).flatMap((piece) => [...reader.take(piece)])
        expect(read.map((message) => [...message])).toEqual(sent.map((message) => [...message]))
        expect(reader.waitingBytes).toBe(0)
      }),
    )
  })

  test('that are too large are refused by their head', () => {
    const reader = new MessageReader(10)
    expect(() => [...reader.take(framed([Buffer.alloc(11)])[0]!.subarray(0, 5))]).toThrow('at most 10 bytes')
  })

  test('that are compressed are refused', () => {
    const frame = framed([Buffer.alloc(3)])[0]!
    frame[0] = 1
    expect(() => [...new MessageReader(10).take(frame)]).toThrow('Compressed')
  })

  test('that are cut off leave bytes', () => {
    const reader = new MessageReader(10)
    expect([...reader.take(framed([Buffer.alloc(8)])[0]!.subarray(0, 9))]).toEqual([])
    expect(reader.begun.length).toBe(4)
    expect(reader.waitingBytes).toBe(9)
  })

  test('that are a small part of what came at once do not keep all of it', () => {
    const reader = new MessageReader(10_000)
    const came = Buffer.concat([framed([Buffer.alloc(8_000)])[0]!.subarray(0, 5_000), Buffer.alloc(60_000)])
    expect([...reader.take(came.subarray(0, 5_000))]).toEqual([])
    expect(reader.begun.buffer.byteLength).toBeLessThan(10_000)
  })

  test('that come byte by byte are not kept byte by byte', () => {
    const reader = new MessageReader(100_000)
    for (const byte of framed([Buffer.alloc(50_000)])[0]!.subarray(0, 40_000))
      expect([...reader.take(Buffer.from([byte]))]).toEqual([])
    expect(reader.waitingBytes).toBe(40_000)
    expect(reader.waitingPieces).toBeLessThan(50)
  })
})
