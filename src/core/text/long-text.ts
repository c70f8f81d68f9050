/** A long text in pieces. All but the first may be sent to many others, so nobody copies them. */
export interface LongText {
  readonly head: Buffer
  /** At least one piece. */
  readonly rest: readonly Buffer[]
}

/** A text as it is sent: bytes, a text of ASCII characters alone, whose length is its number of bytes, or bytes in pieces. */
export type SentText = Buffer | string | LongText

/** Whether a text is in pieces. */
export function isLongText(text: SentText): text is LongText {
  return typeof text === 'object' && 'rest' in text
}

/** The bytes of a text. */
export function bytesOfText(text: SentText): number {
  return isLongText(text) ? bytesOfPieces(text.rest) + text.head.length : text.length
}

/** The bytes of pieces together. */
export function bytesOfPieces(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** The bytes of a text in one piece. */
export function wholeText(text: SentText): Buffer {
  return isLongText(text) ? Buffer.concat([text.head, ...text.rest]) : Buffer.from(text)
}
