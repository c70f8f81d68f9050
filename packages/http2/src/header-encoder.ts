import { type HeaderField, STATIC_TABLE } from './header-table.ts'
import { huffmanBytes, huffmanEncoded } from './huffman.ts'

/** The dynamic table size update to 0 (RFC 7541, section 6.3). */
export const EMPTY_TABLE = Buffer.from([0x20])

/** A header block of these fields, without the dynamic table, so that constant fields are encoded once for all. */
export function headerBlockOf(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(fields.map(representationOf))
}

function representationOf({ name, value }: HeaderField): Buffer {
  const index = STATIC_TABLE.findIndex((entry) => entry.name === name && entry.value === value) + 1
  // An indexed field (section 6.1), or a literal without indexing (section 6.2.2).
  if (index > 0) return integer(index, { prefixBits: 7, first: 0x80 })
  const nameIndex = STATIC_TABLE.findIndex((entry) => entry.name === name) + 1
  const start = integer(nameIndex, { prefixBits: 4, first: 0 })
  return Buffer.concat(nameIndex > 0 ? [start, string(value)] : [start, string(name), string(value)])
}

/** An integer that begins in the last bits of the byte `first` (section 5.1). */
function integer(value: number, { prefixBits, first }: { prefixBits: number; first: number }): Buffer {
  const mask = (1 << prefixBits) - 1
  if (value < mask) return Buffer.from([first | value])
  const bytes = [first | mask]
  let rest = value - mask
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** A string literal, in the Huffman code where that is shorter (section 5.2). */
function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  const isHuffman = huffmanBytes(bytes) < bytes.length
  const encoded = isHuffman ? huffmanEncoded(bytes) : bytes
  return Buffer.concat([integer(encoded.length, { prefixBits: 7, first: isHuffman ? 0x80 : 0 }), encoded])
}
