import { type Line, lineEndsOf, linesOf } from '../editor/line-ends.ts'

/** A part of a merge: lines that are settled, or lines that both have changed. */
export type MergePart =
  | { readonly kind: 'same'; readonly lines: readonly Line[] }
  | {
      readonly kind: 'conflict'
      readonly base: readonly Line[]
      readonly mine: readonly Line[]
      readonly theirs: readonly Line[]
    }

/**
 * Merges two edits of one text line by line. A part that only one edit has changed is taken from that edit, and a line end is a
 * part of its line.
 */
export function mergeTexts(base: string, mine: string, theirs: string): MergePart[] {
  const [old, own, other] = [linesOf(base), linesOf(mine), linesOf(theirs)]
  const inOwn = new Map(commonLines(old, own))
  const inOther = new Map(commonLines(old, other))
  const parts: MergePart[] = []
  let at = { base: 0, mine: 0, theirs: 0 }
  const settle = (to: typeof at): void => {
    const part = partOf({
      base: old.slice(at.base, to.base),
      mine: own.slice(at.mine, to.mine),
      theirs: other.slice(at.theirs, to.theirs),
    })
    if (part !== undefined) parts.push(part)
  }
  for (let line = 0; line < old.length; line++) {
    const [mineAt, theirsAt] = [inOwn.get(line), inOther.get(line)]
    if (mineAt === undefined || theirsAt === undefined) continue
    const here = { base: line, mine: mineAt, theirs: theirsAt }
    settle(here)
    parts.push({ kind: 'same', lines: [withEnd(own[mineAt]!, other[theirsAt]!)] })
    at = { base: line + 1, mine: mineAt + 1, theirs: theirsAt + 1 }
  }
  settle({ base: old.length, mine: own.length, theirs: other.length })
  return joined(parts)
}

/** The text of merged lines. A line that was the last of its text, and is not any more, gets the end that is usual in `mine`. */
export function mergedText(lines: readonly Line[], mine: string): string {
  const usual = lineEndsOf(mine).usual ?? lines.find(({ end }) => end !== '')?.end ?? '\n'
  return lines
    .map(({ text, end }, index) => (index === lines.length - 1 ? text : text + (end || usual)))
    .join('')
}

/** The last line of a text has no end: it is the same line as one that has any. */
const isSameLine = (a: Line, b: Line): boolean =>
  a.text === b.text && (a.end === b.end || a.end === '' || b.end === '')

const withEnd = (line: Line, same: Line): Line => (line.end === '' ? same : line)

const areSameLines = (a: readonly Line[], b: readonly Line[]): boolean =>
  a.length === b.length && a.every((line, index) => isSameLine(line, b[index]!))

function partOf(sides: { base: Line[]; mine: Line[]; theirs: Line[] }): MergePart | undefined {
  const { base, mine, theirs } = sides
  if (base.length + mine.length + theirs.length === 0) return undefined
  if (areSameLines(mine, theirs))
    return { kind: 'same', lines: mine.map((line, index) => withEnd(line, theirs[index]!)) }
  if (areSameLines(base, mine)) return { kind: 'same', lines: theirs }
  if (areSameLines(base, theirs)) return { kind: 'same', lines: mine }
  return { kind: 'conflict', ...sides }
}

function joined(parts: readonly MergePart[]): MergePart[] {
  const result: MergePart[] = []
  let open: Line[] | undefined
  for (const part of parts)
    if (part.kind === 'conflict') {
      open = undefined
      result.push(part)
    } else if (open === undefined) {
      open = [...part.lines]
      result.push({ kind: 'same', lines: open })
    } else for (const line of part.lines) open.push(line)
  return result
}

/** The most steps that the comparison takes; beyond, everything between the equal ends counts as changed. */
const MOST_CELLS = 4_000_000

/** Pairs of lines that two texts have in common, in order: as many as there can be. */
function commonLines(a: readonly Line[], b: readonly Line[]): [number, number][] {
  let start = 0
  while (start < a.length && start < b.length && isSameLine(a[start]!, b[start]!)) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && isSameLine(a.at(-1 - end)!, b.at(-1 - end)!))
    end++
  const pairs: [number, number][] = Array.from({ length: start }, (_, index) => [index, index])
  const middle = commonInMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end))
  for (const [x, y] of middle) pairs.push([x + start, y + start])
  for (let back = end; back > 0; back--) pairs.push([a.length - back, b.length - back])
  return pairs
}

function commonInMiddle(a: readonly Line[], b: readonly Line[]): [number, number][] {
  if (a.length * b.length > MOST_CELLS || a.length === 0 || b.length === 0) return []
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--)
      lengths[x * width + y] = isSameLine(a[x]!, b[y]!)
        ? lengths[(x + 1) * width + y + 1]! + 1
        : Math.max(lengths[(x + 1) * width + y]!, lengths[x * width + y + 1]!)
  const pairs: [number, number][] = []
  for (let x = 0, y = 0; x < a.length && y < b.length;)
    if (isSameLine(a[x]!, b[y]!)) pairs.push([x++, y++])
    else if (lengths[(x + 1) * width + y]! >= lengths[x * width + y + 1]!) x++
    else y++
  return pairs
}
