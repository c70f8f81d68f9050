import { ownText } from '../../core/own-text.ts'

/** What a piece may keep alive besides itself before it is worth a copy, in characters. */
const BEARABLE = 2_048

/**
 * A piece that was cut out of `source`, as a text of its own where it would keep a much longer source alive: a name
 * could hold a whole request body in memory for as long as the name is known.
 */
export function detachedFrom(source: string, piece: string): string {
  const isSmallPart = source.length > BEARABLE && piece.length * 2 < source.length
  return isSmallPart ? ownText(piece) : piece
}
