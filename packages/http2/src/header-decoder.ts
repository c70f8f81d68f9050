import { DynamicTable, fieldBytes, type HeaderField, isShareable, sharedField } from './header-table.ts'
import { huffmanDecoded } from './huffman.ts'

/** The size of the dynamic table that SETTINGS begins with (RFC 9113, section 6.5.2). */
export const TABLE_BYTES = 4_096

/** A change to a smaller size and a change to the last size: no block needs more (RFC 7541, section 4.2). */
const MOST_SIZE_UPDATES = 2

/** Integers have at most this many bytes after their prefix: 28 bits, more than any length or index here (section 5.1). */
const MOST_INTEGER_BYTES = 4

/** A longer block is not remembered. */
const MOST_REMEMBERED_BYTES = 512

/** A header block cannot be decoded. The tables of both sides differ from now on, so the connection ends (section 2.3.2). */
export class CompressionError extends Error {
  /** Whether a limit of ours has ended it. */
  readonly isLimit: boolean

  constructor(message: string, { isLimit = false } = {}) {
    super(message)
    this.isLimit = isLimit
  }
}

/** The fields of a header block. Equal blocks may share one list. */
export interface HeaderList {
  readonly fields: readonly HeaderField[]
  /** The fields are larger than the limit: the list ends at the limit. */
  readonly isTooLarge: boolean
}

/** Decodes the header blocks of a connection, one after the other. */
export class HeaderDecoder {
  readonly #maxListBytes: number
  readonly #table = new DynamicTable(TABLE_BYTES)
  /** Clients repeat a block byte for byte, which means the same while the table does not change. */
  #last: KnownBlock | undefined
  #lastRevision = 0

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes
  }

  /** Decodes a whole block. Throws CompressionError. */
  decode(block: Buffer): HeaderList {
    const { revision } = this.#table
    if (this.#last !== undefined && this.#lastRevision === revision && this.#last.block.equals(block))
      return this.#last.list
    const list = new BlockDecoder(block, this.#table, this.#maxListBytes).list()
    const isLasting = this.#table.revision === revision && block.length <= MOST_REMEMBERED_BYTES
    this.#last = isLasting ? knownBlock(block, list) : undefined
    this.#lastRevision = revision
    return this.#last?.list ?? list
  }
}

/** A header block and the fields that it means. */
interface KnownBlock {
  readonly block: Buffer
  readonly list: HeaderList
}

const MOST_SHARED_BLOCKS = 1_000
/** A block of more fields is not shared: it names them by numbers, so they may be far longer than it. */
const MOST_SHARED_FIELDS = 16

const sharedBlocks = new Map<string, KnownBlock>()

/** A block to remember. Most clients send the same ones, so connections share them; credentials stay with their connection. */
function knownBlock(block: Buffer, list: HeaderList): KnownBlock {
  if (list.fields.length > MOST_SHARED_FIELDS || !list.fields.every(isShareable))
    return { block: copyOf(block), list }
  const text = JSON.stringify([block.toString('latin1'), list.isTooLarge, ...list.fields])
  const known = sharedBlocks.get(text)
  if (known !== undefined) return known
  if (sharedBlocks.size >= MOST_SHARED_BLOCKS) sharedBlocks.clear()
  const made = { block: copyOf(block), list }
  sharedBlocks.set(text, made)
  return made
}

/** A copy of its own: a slice of Node's pool would keep the whole pool. */
function copyOf(block: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(block.length)
  block.copy(copy)
  return copy
}

/** Decodes one block (RFC 7541, section 6). */
class BlockDecoder {
  readonly #block: Buffer
  readonly #table: DynamicTable
  readonly #maxListBytes: number
  readonly #fields: HeaderField[] = []
  #at = 0
  #listBytes = 0
  #sizeUpdates = 0
  #hasFields = false

  constructor(block: Buffer, table: DynamicTable, maxListBytes: number) {
    this.#block = block
    this.#table = table
    this.#maxListBytes = maxListBytes
  }

  list(): HeaderList {
    while (this.#at < this.#block.length) this.#representation(this.#block[this.#at]!)
    return { fields: this.#fields, isTooLarge: this.#listBytes > this.#maxListBytes }
  }

  #representation(first: number): void {
    if (first >= 0x80) this.#add(this.#indexed(this.#integer(7)))
    else if (first >= 0x40) this.#addToTable(this.#literal(6))
    else if (first >= 0x20) this.#sizeUpdate(this.#integer(5))
    // Without indexing, and never indexed: that only concerns who passes the field on (section 6.2.3).
    else this.#add(this.#literal(4))
  }

  #indexed(index: number): HeaderField {
    const field = this.#table.at(index)
    if (field === undefined) throw new CompressionError('an index that is not there')
    return field
  }

  #literal(prefixBits: number): HeaderField {
    const index = this.#integer(prefixBits)
    const name = index === 0 ? this.#string() : this.#indexed(index).name
    return { name, value: this.#string() }
  }

  #addToTable(field: HeaderField): void {
    const kept = sharedField(field)
    this.#table.add(kept)
    this.#add(kept)
  }

  /** Fields beyond the limit are decoded for the sake of the table, and not kept. */
  #add(field: HeaderField): void {
    this.#hasFields = true
    this.#listBytes += fieldBytes(field)
    if (this.#listBytes <= this.#maxListBytes) this.#fields.push(field)
  }

  /** A dynamic table size update (section 6.3). It comes before all fields (section 4.2). */
  #sizeUpdate(maxBytes: number): void {
    if (this.#hasFields) throw new CompressionError('a table size after fields')
    if (maxBytes > TABLE_BYTES) throw new CompressionError('a table that is too large')
    if (++this.#sizeUpdates > MOST_SIZE_UPDATES)
      throw new CompressionError('too many table sizes', { isLimit: true })
    this.#table.resize(maxBytes)
  }

  /** An integer that begins in the last bits of this byte (section 5.1). */
  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1
    let value = this.#byte() & mask
    if (value < mask) return value
    for (let shift = 0; shift < 7 * MOST_INTEGER_BYTES; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new CompressionError('an integer that is too large')
  }

  /** A string literal (section 5.2). */
  #string(): string {
    const isHuffman = this.#block[this.#at]! >= 0x80
    const length = this.#integer(7)
    const end = this.#at + length
    if (end > this.#block.length) throw new CompressionError('a string that is cut off')
    const text = isHuffman
      ? huffmanDecoded(this.#block.subarray(this.#at, end))
      : this.#block.toString('latin1', this.#at, end)
    this.#at = end
    if (text === undefined) throw new CompressionError('a Huffman code that is none')
    return text
  }

  #byte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw new CompressionError('a block that is cut off')
    return byte
  }
}
