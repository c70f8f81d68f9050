/** A part of a merge: lines that are settled, or lines that both have changed. */
export type MergePart =
  | { readonly kind: 'same'; readonly lines: readonly string[] }
  | {
      readonly kind: 'conflict'
      readonly base: readonly string[]
      readonly mine: readonly string[]
      readonly theirs: readonly string[]
    }

/** Merges two edits of one text line by line. What only one has changed is taken from that one. */
export function mergeTexts(base: string, mine: string, theirs: string): MergePart[] {
  const [old, own, other] = [base, mine, theirs].map((text) => text.split('\n')) as [
    string[],
    string[],
    string[],
  ]
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
    parts.push({ kind: 'same', lines: [old[line]!] })
    at = { base: line + 1, mine: mineAt + 1, theirs: theirsAt + 1 }
  }
  settle({ base: old.length, mine: own.length, theirs: other.length })
  return joined(parts)
}

function partOf(sides: { base: string[]; mine: string[]; theirs: string[] }): MergePart | undefined {
  const [base, mine, theirs] = [sides.base, sides.mine, sides.theirs].map((lines) => lines.join('\n'))
  const count = sides.base.length + sides.mine.length + sides.theirs.length
  if (count === 0) return undefined
  const isSame = (a: string[], b: string[], texts: boolean): boolean => a.length === b.length && texts
  if (isSame(sides.mine, sides.theirs, mine === theirs)) return { kind: 'same', lines: sides.mine }
  if (isSame(sides.base, sides.mine, base === mine)) return { kind: 'same', lines: sides.theirs }
  if (isSame(sides.base, sides.theirs, base === theirs)) return { kind: 'same', lines: sides.mine }
  return { kind: 'conflict', ...sides }
}

function joined(parts: readonly MergePart[]): MergePart[] {
  const result: MergePart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part.kind === 'same' && last?.kind === 'same')
      result[result.length - 1] = { kind: 'same', lines: [...last.lines, ...part.lines] }
    else result.push(part)
  }
  return result
}

/** The most steps that the comparison takes; beyond, everything between the equal ends counts as changed. */
const MOST_CELLS = 4_000_000

/** Pairs of lines that two texts have in common, in order: as many as there can be. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const pairs: [number, number][] = Array.from({ length: start }, (_, index) => [index, index])
  const middle = commonInMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end))
  for (const [x, y] of middle) pairs.push([x + start, y + start])
  for (let back = end; back > 0; back--) pairs.push([a.length - back, b.length - back])
  return pairs
}

function commonInMiddle(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MOST_CELLS || a.length === 0 || b.length === 0) return []
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--)
      lengths[x * width + y] =
        a[x] === b[y]
          ? lengths[(x + 1) * width + y + 1]! + 1
          : Math.max(lengths[(x + 1) * width + y]!, lengths[x * width + y + 1]!)
  const pairs: [number, number][] = []
  for (let x = 0, y = 0; x < a.length && y < b.length;)
    if (a[x] === b[y]) pairs.push([x++, y++])
    else if (lengths[(x + 1) * width + y]! >= lengths[x * width + y + 1]!) x++
    else y++
  return pairs
}
