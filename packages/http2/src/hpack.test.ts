import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CompressionError, HeaderDecoder } from './header-decoder.ts'
import { headerBlockOf } from './header-encoder.ts'
import { DynamicTable, type HeaderField, STATIC_TABLE } from './header-table.ts'
import { huffmanBytes, huffmanDecoded, huffmanEncoded } from './huffman.ts'

const hex = (text: string): Buffer => Buffer.from(text, 'hex')

/** Decodes blocks with one decoder, and gives each list as lines. */
function decoded(...blocks: string[]): string[][] {
  const decoder = new HeaderDecoder(16_384)
  return blocks.map((block) => linesOf(decoder.decode(hex(block)).fields))
}

const linesOf = (fields: readonly HeaderField[]): string[] =>
  fields.map(({ name, value }) => `${name}: ${value}`)

/** The examples of RFC 7541, appendix C. */
describe('the examples of the RFC', () => {
  test.each([
    ['C.2.1', '400a637573746f6d2d6b65790d637573746f6d2d686561646572', 'custom-key: custom-header'],
    ['C.2.2', '040c2f73616d706c652f70617468', ':path: /sample/path'],
    ['C.2.3', '100870617373776f726406736563726574', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('%s', (_, block, line) => expect(decoded(block)).toEqual([[line]]))

  const requests = [
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
    [
      ':method: GET',
      ':scheme: https',
      ':path: /index.html',
      ':authority: www.example.com',
      'custom-key: custom-value',
    ],
  ]
  test.each([
    [
      'C.3: requests',
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    [
      'C.4: requests in the Huffman code',
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ])('%s', (_, ...blocks) => expect(decoded(...blocks)).toEqual(requests))

  const [later, now] = ['Mon, 21 Oct 2013 20:13:22 GMT', 'Mon, 21 Oct 2013 20:13:21 GMT']
  const [cache, location] = ['cache-control: private', 'location: https://www.example.com']
  const cookie = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
  const responses = [
    [':status: 302', cache, `date: ${now}`, location],
    [':status: 307', cache, `date: ${now}`, location],
    [':status: 200', cache, `date: ${later}`, location, 'content-encoding: gzip', cookie],
  ]
  /** The table of these examples has 256 bytes, so that fields are evicted. */
  const tableOf256 = '3fe101'
  test.each([
    [
      'C.5: responses, with eviction',
      `${tableOf256}4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
    [
      'C.6: responses in the Huffman code, with eviction',
      `${tableOf256}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
  ])('%s', (_, ...blocks) => expect(decoded(...blocks)).toEqual(responses))
})

describe('a block that is wrong ends the decoding', () => {
  test.each([
    ['index 0 (section 6.1)', '80'],
    ['an index beyond both tables', 'bf'],
    ['the name of an index beyond both tables', '7f00'],
    ['an integer that is cut off', 'ff'],
    ['an integer of five bytes (section 5.1)', 'ff8080808001'],
    ['an integer without end', `ff${'80'.repeat(1_000)}`],
    ['a string that is cut off', '000a61'],
    ['a value that is not there', '000161'],
    ['a name that is not there', '00'],
    ['a Huffman string with EOS (section 5.2)', '008581ffffffffff00'],
    ['a Huffman string with a padding of a byte', '00821fff00'],
    ['a Huffman string with a padding of zeros', '00811800'],
    ['a table size above that of SETTINGS (section 6.3)', '3fe21f'],
    ['a table size after a field (section 4.2)', '8220'],
    ['three table sizes', '20203fe11f'],
  ])('%s', (_, block) => expect(() => decoded(block)).toThrow(CompressionError))

  test('any bytes give fields, or this error', () => {
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(...['82', '400161016a', '20', 'be', '3fe11f', '418cf1e3c2e5f23a6ba0ab90f4ff'].map(hex)),
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        try {
          new HeaderDecoder(1_000).decode(Buffer.concat(parts))
        } catch (error) {
          expect(error).toBeInstanceOf(CompressionError)
        }
      }),
    )
  })
})

describe('the dynamic table', () => {
  test('evicts the oldest, and is empty after a field that does not fit', () => {
    const table = new DynamicTable(100)
    table.add({ name: 'a', value: '1' })
    table.add({ name: 'b', value: '2' })
    expect([table.at(62)?.name, table.at(63)?.name, table.bytes]).toEqual(['b', 'a', 68])
    table.add({ name: 'c', value: '3' })
    expect([table.at(62)?.name, table.at(63)?.name, table.at(64)]).toEqual(['c', 'b', undefined])
    table.add({ name: 'd', value: 'x'.repeat(100) })
    expect([table.at(62), table.bytes]).toEqual([undefined, 0])
  })

  test('shrinks at once, and holds more after it has grown', () => {
    // The table is emptied, and then grows: only the second field is in it.
    expect(decoded('400161016a', '203fe11f400162016a', 'be')).toEqual([['a: j'], ['b: j'], ['b: j']])
    expect(() => decoded('400161016a', '203fe11fbe')).toThrow(CompressionError)
  })
})

describe('a list of fields', () => {
  test('keeps the fields within the limit, and the table keeps up', () => {
    const decoder = new HeaderDecoder(100)
    const large = `400161${'7f01'}${'78'.repeat(128)}`
    expect(decoder.decode(hex(large))).toEqual({ fields: [], isTooLarge: true })
    expect(decoder.decode(hex('be')).isTooLarge).toBe(true)
  })

  test('of a bomb is not kept: an index for a byte', () => {
    const decoder = new HeaderDecoder(16_384)
    decoder.decode(Buffer.concat([hex('4001617fa11e'), Buffer.alloc(4_000, 'x')]))
    const { fields, isTooLarge } = decoder.decode(Buffer.alloc(60_000, 0xbe))
    expect([fields.length, isTooLarge]).toEqual([4, true])
  })

  test('of the same block is the same while the table does not change', () => {
    const decoder = new HeaderDecoder(16_384)
    const block = hex('828684be')
    decoder.decode(hex('400161016a'))
    const first = decoder.decode(block)
    expect(decoder.decode(Buffer.from(block))).toBe(first)
    decoder.decode(hex('400162016b'))
    expect(linesOf(decoder.decode(block).fields).at(-1)).toBe('b: k')
  })
})

describe('an encoded header block', () => {
  const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)) })
  const field = fc.oneof(
    fc.record({ name: text, value: text }),
    fc.record({ name: fc.constantFrom(...STATIC_TABLE.map(({ name }) => name)), value: text }),
    fc.constantFrom(...STATIC_TABLE),
  )

  test('is decoded again', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 8 }), (fields) => {
        expect(new HeaderDecoder(1e6).decode(headerBlockOf(fields)).fields).toEqual(fields)
      }),
    )
  })

  test('is short for fields of the static table', () => {
    const fields = [
      { name: ':status', value: '200' },
      { name: 'content-type', value: 'application/grpc' },
    ]
    expect(headerBlockOf(fields).toString('hex')).toBe('880f108b1d75d0620d263d4c4d6564')
  })

  test('in the Huffman code is decoded again, at any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (array) => {
        const bytes = Buffer.from(array)
        const encoded = huffmanEncoded(bytes)
        expect(encoded.length).toBe(huffmanBytes(bytes))
        expect(huffmanDecoded(encoded)).toBe(bytes.toString('latin1'))
      }),
    )
  })
})
