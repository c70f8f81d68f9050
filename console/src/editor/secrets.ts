/** A part of a text. */
export interface Range {
  readonly from: number
  readonly to: number
}

const WORDS =
  'password|passwd|passphrase|pwd|secret|token|credential|private[-_.]?key|api[-_.]?key|access[-_.]?key|sign[-_.]?key'
const KEY = new RegExp(WORDS, 'i')
/** A key, what parts it from its value, and the value: quoted, or up to the end of the line. */
const PAIR = new RegExp(
  `(["']?)([\\w.$/-]{0,120}(?:${WORDS})[\\w.$/-]{0,120})\\1(\\s*[:=]\\s*)("(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\s,&;}][^\\n&;]*)`,
  'gi',
)
const ELEMENT = new RegExp(`<([\\w.:-]{0,120}(?:${WORDS})[\\w.:-]{0,120})(?:\\s[^>]*)?>([^<]+)<`, 'gi')
const BLOCK = /^[|>][+-]?\d*\s*(?:#.*)?$/

/** Whether a key names something that people nearby should not read. */
export const isSecretKey = (key: string): boolean => KEY.test(key)

/** The parts of a text that are values of such keys. Each line is looked at once. */
export function secretRanges(text: string): Range[] {
  const found: Range[] = []
  let block: number | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const indent = line.length - line.trimStart().length
    if (block !== undefined && (line.trim() === '' || indent > block)) {
      if (line.trim() !== '') found.push({ from: at + indent, to: at + line.trimEnd().length })
    } else {
      const inLine = rangesInLine(line)
      const last = inLine.at(-1)
      block = last !== undefined && BLOCK.test(line.slice(last.from, last.to)) ? indent : undefined
      if (block === undefined) found.push(...inLine.map(({ from, to }) => ({ from: at + from, to: at + to })))
    }
    at += line.length + 1
  }
  return found
}

const LONGEST_LINE = 20_000

function rangesInLine(line: string): Range[] {
  // A line that long was not written by people, and is not worth the time.
  if (line.length > LONGEST_LINE || !KEY.test(line)) return []
  const found: Range[] = []
  for (const match of line.matchAll(PAIR)) {
    const [whole, , , , value = ''] = match
    const end = match.index + whole.length
    const length = value.trimEnd().replace(/(?<=["'\]}\d\w])[,}]+$/, '').length
    if (length > 0) found.push({ from: end - value.length, to: end - value.length + length })
  }
  for (const match of line.matchAll(ELEMENT)) {
    const end = match.index + match[0].length - 1
    found.push({ from: end - match[2]!.length, to: end })
  }
  return withoutOverlaps(found)
}

function withoutOverlaps(ranges: Range[]): Range[] {
  const sorted = ranges.toSorted((a, b) => a.from - b.from)
  return sorted.filter(({ from }, index) => index === 0 || from >= sorted[index - 1]!.to)
}
