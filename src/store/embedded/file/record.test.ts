import { describe, expect, test } from 'vitest'
import { record } from './pages.test-support.ts'
import { decodeRecord, Malformed, varint } from './record.ts'

describe('a number of variable length', () => {
  test.each([
    ['00', 0, 1],
    ['7f', 127, 1],
    ['8100', 128, 2],
    ['ff7f', 16_383, 2],
    ['818000', 16_384, 3],
    ['818080808080807f', 2 ** 49 + 127, 8],
  ])('%s is read as %d', (hex, value, next) => {
    expect(varint(Buffer.from(`${hex}ff`, 'hex'), 0)).toEqual([value, next])
  })

  test('is read from the middle of the bytes', () => {
    expect(varint(Buffer.from('ffff810505', 'hex'), 2)).toEqual([133, 4])
  })

  test('is malformed where its bytes end before it', () => {
    expect(() => varint(Buffer.from('8181', 'hex'), 0)).toThrow(Malformed)
    expect(() => varint(Buffer.alloc(0), 0)).toThrow('a number goes beyond its page')
  })

  test('is malformed where it takes nine bytes', () => {
    expect(() => varint(Buffer.alloc(9, 0xff), 0)).toThrow('a number is out of range')
  })
})

describe('a record', () => {
  test.each([
    ['null', '0200', [null]],
    ['one byte, negative', '0201ff', [-1]],
    ['two bytes', '02027fff', [32_767]],
    ['three bytes, negative', '0203800000', [-8_388_608]],
    ['four bytes', '020400010000', [65_536]],
    ['six bytes', '0205000100000000', [2 ** 32]],
    ['eight bytes', '02060000010000000000', [2 ** 40]],
    ['a fraction', '02073ff8000000000000', [1.5]],
    ['zero and one without bytes', '030809', [0, 1]],
    ['an empty text and no bytes', '030d0c', ['', Buffer.alloc(0)]],
    ['a text of UTF-8', '0211c3bc', ['ü']],
    ['bytes', '021000ff', [Buffer.from([0, 255])]],
    ['no values', '01', []],
  ])('with %s is decoded', (_, hex, values) => {
    expect(decodeRecord(Buffer.from(hex, 'hex'))).toEqual(values)
  })

  test('with a header of more than a byte is decoded', () => {
    const values = Array.from({ length: 100 }, (_, at) => 'x'.repeat(at))
    expect(decodeRecord(record(values))).toEqual(values)
  })

  test.each([
    ['has a header longer than itself', '0a01', 'a record is longer than its bytes'],
    ['ends within a value', '020400', 'a value goes beyond its record'],
    ['has a text that is cut', '022161', 'a value goes beyond its record'],
    ['has a type that nobody writes', '020b00', 'a value has the unknown type 11'],
    ['has no bytes', '', 'a number goes beyond its page'],
  ])('that %s is malformed', (_, hex, problem) => {
    const bytes = Buffer.from(hex, 'hex')
    expect(() => decodeRecord(bytes)).toThrow(Malformed)
    expect(() => decodeRecord(bytes)).toThrow(problem)
  })
})
