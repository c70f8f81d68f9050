import { ownText } from '../../core/text/own-text.ts'

/** A source of at most this many characters is not worth a copy. */
const BEARABLE = 2_048

/**
 * A piece of `source`, copied if it would keep a much longer source in memory. A slice refers to the whole
 * text, so a name could hold a whole request body for as long as the name is known.
 */
export function detachedFrom(source: string, piece: string): string {
  const isSmallPart = source.length > BEARABLE && piece.length * 2 < source.length
  return isSmallPart ? ownText(piece) : piece
}
