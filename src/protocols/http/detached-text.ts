/** Shorter texts are copied by the engine anyway when they are cut out of longer ones. */
const SHORTEST_CUT = 13

/** What a piece may keep alive besides itself before it is worth a copy, in characters. */
const BEARABLE = 2_048

/**
 * A piece that was cut out of `source`, as a text of its own where it would keep a much longer source alive:
 * V8 keeps a piece as a reference into what it was cut from, so that a name could hold a whole request body
 * in memory for as long as the name is known.
 */
export function detachedFrom(source: string, piece: string): string {
  const isSmallPart = source.length > BEARABLE && piece.length * 2 < source.length
  return isSmallPart && piece.length >= SHORTEST_CUT ? detached(piece) : piece
}

/** A copy that shares nothing with what the text was cut from. */
export function detached(text: string): string {
  return Buffer.from(text).toString()
}
