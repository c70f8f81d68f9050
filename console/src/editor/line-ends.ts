/** The characters that end a line. */
export type LineEnd = '\n' | '\r\n' | '\r'

/** A line of a text. The end of the last one is empty: a text that ends with a line end has an empty last line. */
export interface Line {
  readonly text: string
  readonly end: LineEnd | ''
}

/** How the lines of a text end. */
export interface LineEnds {
  /** The end of most lines, and of new ones; undefined where the text has one line. */
  readonly usual: LineEnd | undefined
  readonly isMixed: boolean
}

/** How people call them. */
export const LINE_END_NAMES: Readonly<Record<LineEnd, string>> = { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }

const ANY_END = /\r\n?|\n/g

/**
 * How the lines of a text end. If several ends are equally frequent, the first in the text is the usual one.
 */
export function lineEndsOf(text: string): LineEnds {
  // Most texts have no other: this is one search.
  if (!text.includes('\r')) return { usual: text.includes('\n') ? '\n' : undefined, isMixed: false }
  const counts = new Map<LineEnd, number>()
  for (const [end] of text.matchAll(ANY_END))
    counts.set(end as LineEnd, (counts.get(end as LineEnd) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const usual = [...counts.keys()].find((end) => counts.get(end) === most)
  return { usual, isMixed: counts.size > 1 }
}

/** The lines of a text; together they are the text. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let at = 0
  for (const { 0: end, index } of text.matchAll(ANY_END)) {
    lines.push({ text: text.slice(at, index), end: end as LineEnd })
    at = index + end.length
  }
  lines.push({ text: text.slice(at), end: '' })
  return lines
}

/** The text with LF at the end of each line, as an editor and the readers of formats have it. */
export const withLf = (text: string): string => (text.includes('\r') ? text.replaceAll(ANY_END, '\n') : text)

/** Stand for line ends in a comparison: characters that no text has. */
const MARKS: Readonly<Record<LineEnd, string>> = { '\n': '\uF8F0', '\r\n': '\uF8F1', '\r': '\uF8F2' }
const ANY_MARK = /[\uF8F0-\uF8F2](?=\n|$)/g

/** The end that a mark stands for. */
export const markedEnd = (mark: string): LineEnd | undefined =>
  (Object.keys(MARKS) as LineEnd[]).find((end) => MARKS[end] === mark)

/** A marked text in which a mark is `other`: as long as the mark where places in the text matter. */
export const withoutMarks = (text: string, other: '' | ' '): string => text.replaceAll(ANY_MARK, other)

/** Two texts for a comparison, and what there is to say about their line ends. */
export interface ComparedEnds {
  /** With LF; where one text is mixed, lines with another end than the unmarked end have a mark. */
  readonly texts: readonly [string, string]
  /** The end of lines without a mark; undefined where no line is marked. */
  readonly unmarked: LineEnd | undefined
  /** Whether the texts differ in nothing but line ends. */
  readonly onlyEndsDiffer: boolean
}

/** Prepares two texts for a comparison, so that lines that differ in their ends are shown. */
export function comparedEnds(before: string, after: string): ComparedEnds {
  const [old, young] = [lineEndsOf(before), lineEndsOf(after)]
  const plain = [withLf(before), withLf(after)] as const
  const onlyEndsDiffer = before !== after && plain[0] === plain[1]
  if (!old.isMixed && !young.isMixed) return { texts: plain, unmarked: undefined, onlyEndsDiffer }
  const usual = new Set([old.usual, young.usual].filter((end) => end !== undefined))
  const unmarked = usual.size === 1 ? [...usual][0]! : '\n'
  return { texts: [marked(before, unmarked), marked(after, unmarked)], unmarked, onlyEndsDiffer }
}

function marked(text: string, unmarked: LineEnd): string {
  return linesOf(text)
    .map((line) => (line.end === '' || line.end === unmarked ? line.text : line.text + MARKS[line.end]))
    .join('\n')
}
