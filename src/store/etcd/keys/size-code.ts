/**
 * Sizes as one of 256 codes, each 6 % larger than the one before. A code and a revision fit into one exact number, for
 * fewer than 2^45 revisions.
 */

/** How many codes there are. */
export const CODES = 256
const PER_OCTAVE = 12

/** The code of a number of bytes. Numbers from 2 MiB on have the last code. */
export function sizeCode(bytes: number): number {
  return Math.min(CODES - 1, Math.round(Math.log2(Math.max(1, bytes)) * PER_OCTAVE))
}

/** About how many bytes have this code: within 3 %. */
export function bytesOf(code: number): number {
  return SIZES[code]!
}

const SIZES = Array.from({ length: CODES }, (_, code) => Math.round(2 ** (code / PER_OCTAVE)))
