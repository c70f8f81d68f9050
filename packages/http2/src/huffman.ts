/** The Huffman code of header strings (RFC 7541, section 5.2). */

/** The number of bits in the code of each byte; the last code is EOS (appendix B). */
const CODE_BITS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7,
  8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19,
  13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,
  28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
  22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23,
  22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25,
  25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]
const EOS = 256

/** The code of each byte. It is canonical: codes of one length are in the order of their bytes. */
const CODES = canonicalCodes()

/** The code as a binary tree: node n has children at 2n and 2n + 1; a leaf is -1 - byte; 0 is no child. */
const TREE = treeOf(CODES)

/** Decodes a Huffman string. Undefined if it is invalid: it contains EOS, or its padding is wrong or a whole byte. */
export function huffmanDecoded(bytes: Buffer): string | undefined {
  // The shortest code has five bits.
  const decoded = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / 5))
  let [length, node, pendingBits, isOnes] = [0, 0, 0, true]
  for (const byte of bytes) {
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1
      const next = TREE[2 * node + bit]!
      pendingBits++
      isOnes = isOnes && bit === 1
      if (next >= 0) node = next
      else if (next === -1 - EOS) return undefined
      else {
        decoded[length++] = -1 - next
        ;[node, pendingBits, isOnes] = [0, 0, true]
      }
    }
  }
  return pendingBits < 8 && isOnes ? decoded.toString('latin1', 0, length) : undefined
}

/** Encodes bytes; the last byte is padded with ones. */
export function huffmanEncoded(bytes: Buffer): Buffer {
  const encoded = Buffer.alloc(huffmanBytes(bytes))
  let at = 0
  const write = (bit: number): void => {
    if (bit === 1) encoded[at >> 3]! |= 0x80 >> (at & 7)
    at++
  }
  for (const byte of bytes)
    for (let shift = CODE_BITS[byte]! - 1; shift >= 0; shift--) write((CODES[byte]! >> shift) & 1)
  while ((at & 7) !== 0) write(1)
  return encoded
}

/** How many bytes the encoded form has. */
export function huffmanBytes(bytes: Buffer): number {
  let bits = 0
  for (const byte of bytes) bits += CODE_BITS[byte]!
  return Math.ceil(bits / 8)
}

function canonicalCodes(): Uint32Array {
  const codes = new Uint32Array(CODE_BITS.length)
  const symbols = [...CODE_BITS.keys()].sort((a, b) => CODE_BITS[a]! - CODE_BITS[b]! || a - b)
  let [code, bits] = [0, 0]
  for (const symbol of symbols) {
    code <<= CODE_BITS[symbol]! - bits
    bits = CODE_BITS[symbol]!
    codes[symbol] = code++
  }
  return codes
}

function treeOf(codes: Uint32Array): Int16Array {
  // A complete tree has one inner node less than leaves.
  const tree = new Int16Array(2 * (codes.length - 1))
  let nodes = 1
  for (const [symbol, code] of codes.entries()) {
    let node = 0
    for (let shift = CODE_BITS[symbol]! - 1; shift > 0; shift--) {
      const child = 2 * node + ((code >> shift) & 1)
      if (tree[child] === 0) tree[child] = nodes++
      node = tree[child]!
    }
    tree[2 * node + (code & 1)] = -1 - symbol
  }
  return tree
}
