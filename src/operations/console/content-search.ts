import { KeyPaths } from './key-paths.ts'

/** A search in contents, in any case; an empty text is everywhere. */
export interface ContentFilter {
  /** A part of the content. */
  readonly content: string
  /** A part of the path of a key in the content, such as `server.port`. */
  readonly key: string
}

/** A line of a content that was looked for. */
export interface Hit {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

/** A search in one content. It works on from `yield` to `yield`, less than a millisecond each, and returns what it found. */
export type Search<T> = Generator<undefined, T, undefined>

const MOST_HITS = 3
const MOST_HIT_CHARACTERS = 200
/** How many bytes are read between two yields. */
const PIECE_BYTES = 16 * 1024
const NEWLINE = 10

/** Whether a content is looked for: as {@link hitsIn}, but without the lines where that is cheaper. */
export function* isInContent(content: Buffer, filter: ContentFilter): Search<boolean> {
  if (filter.key !== '') return (yield* hitsIn(content, filter)) !== undefined
  return yield* hasText(content, filter.content.toLowerCase())
}

/** The first matching lines of a content; undefined if it does not match. */
export function* hitsIn(content: Buffer, filter: ContentFilter): Search<Hit[] | undefined> {
  if (filter.content === '' && filter.key === '') return []
  const [inText, inKey] = [filter.content.toLowerCase(), filter.key.toLowerCase()]
  // Most contents have neither: they are not cut into lines.
  if (!(yield* hasText(content, inText)) || !(yield* hasText(content, lastNameOf(inKey)))) return undefined
  const hits = yield* linesWith(content, inText, inKey)
  if (hits.length > 0) return hits
  // A text over several lines is in the content, but in no line.
  return inKey === '' ? [] : undefined
}

/** Whether a content has a text, which is in lower case. */
function* hasText(content: Buffer, text: string): Search<boolean> {
  if (text === '') return true
  let before = ''
  for (let from = 0; from < content.length;) {
    const to = pieceEnd(content, from)
    const piece = before + content.toString('utf8', from, to).toLowerCase()
    if (piece.includes(text)) return true
    before = piece.slice(Math.max(0, piece.length - text.length + 1))
    from = to
    if (from < content.length) yield
  }
  return false
}

function* linesWith(content: Buffer, inText: string, inKey: string): Search<Hit[]> {
  const hits: Hit[] = []
  const paths = new KeyPaths(inKey)
  let line = 0
  for (let from = 0; from < content.length && hits.length < MOST_HITS;) {
    const to = linesEnd(content, from)
    // The beginning of a long line has the key, and is shown.
    const isLong = to - from > PIECE_BYTES
    const lines = content.toString('utf8', from, isLong ? from + PIECE_BYTES : to).split('\n')
    // Behind the last line end begins the next piece.
    if (!isLong && to < content.length) lines.pop()
    for (const text of lines) {
      line++
      if (inKey !== '' && !paths.hasWanted(text)) continue
      const isHit = isLong
        ? yield* hasText(content.subarray(from, to), inText)
        : text.toLowerCase().includes(inText)
      if (isHit) hits.push({ line, text: shortened(text) })
      if (hits.length === MOST_HITS) break
    }
    from = to
    yield
  }
  return hits
}

/** The end of a piece of a content: behind a line or, in a long one, between two characters of UTF-8. */
function pieceEnd(content: Buffer, from: number): number {
  const end = linesEnd(content, from)
  if (end - from <= PIECE_BYTES) return end
  const middle = from + PIECE_BYTES
  return middle - [0, 1, 2, 3].findIndex((back) => !isContinuation(content[middle - back]))
}

/** The end of some whole lines: of a piece, or of one line that is longer than a piece. */
function linesEnd(content: Buffer, from: number): number {
  if (content.length - from <= PIECE_BYTES) return content.length
  const lastNewline = content.subarray(from, from + PIECE_BYTES).lastIndexOf(NEWLINE)
  if (lastNewline >= 0) return from + lastNewline + 1
  const next = content.indexOf(NEWLINE, from + PIECE_BYTES)
  return next < 0 ? content.length : next + 1
}

/** Whether a byte is the second or a later one of a character of UTF-8. */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

/** `port` of `server.port`: it is on the line itself. */
function lastNameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function shortened(line: string): string {
  return line.length > MOST_HIT_CHARACTERS ? `${line.slice(0, MOST_HIT_CHARACTERS)}…` : line.trimEnd()
}
