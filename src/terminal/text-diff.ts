import { Painted, painted } from '../command/terminal-text.ts'

/** Lines of one text, of the other text, or of both. */
interface Piece {
  readonly kind: ' ' | '-' | '+'
  readonly line: string
}

const CONTEXT = 3
/** Beyond this many different lines the texts are shown whole: the search for the least difference would take too long. */
const MOST_EDITS = 1_000

/** The difference of two texts, as `diff -u` shows it; empty for equal texts. */
export function unifiedDiff(from: NamedText, to: NamedText): Painted {
  if (from.text === to.text) return Painted.lines([])
  const both = [linesOf(from.text), linesOf(to.text)] as const
  const pieces = both.every(haveReturns) ? piecesOf(...both).map(withoutReturn) : piecesOf(...both)
  const head = [painted(['--- ', from.name], 'bold'), painted(['+++ ', to.name], 'bold')]
  return Painted.lines([...head, ...hunksOf(pieces).flatMap(hunkLines)])
}

/** A text and its name. */
export interface NamedText {
  readonly name: string
  readonly text: string
}

/** Each line with its end. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Whether all lines end in CR LF: the CR is then not marked at each line. */
function haveReturns(lines: readonly string[]): boolean {
  return lines.every((line) => line.endsWith('\r\n'))
}

function withoutReturn({ kind, line }: Piece): Piece {
  return { kind, line: line.replace(/\r\n$/, '\n') }
}

function piecesOf(from: readonly string[], to: readonly string[]): Piece[] {
  let start = 0
  while (start < from.length && start < to.length && from[start] === to[start]) start++
  let end = 0
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end++
  const middle = shortestEdit(from.slice(start, from.length - end), to.slice(start, to.length - end))
  const same = (line: string): Piece => ({ kind: ' ', line })
  return [...from.slice(0, start).map(same), ...middle, ...from.slice(from.length - end).map(same)]
}

/** The shortest edit of E. Myers, "An O(ND) difference algorithm and its variations", 1986. */
function shortestEdit(from: readonly string[], to: readonly string[]): Piece[] {
  const most = Math.min(from.length + to.length, MOST_EDITS)
  const furthest = new Map([[1, 0]])
  const trace: ReadonlyMap<number, number>[] = []
  for (let edits = 0; edits <= most; edits++) {
    trace.push(new Map(furthest))
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isDown =
        diagonal === -edits || (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1))
      let x = isDown ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x++
      furthest.set(diagonal, x)
      if (x >= from.length && x - diagonal >= to.length) return pathBack(trace, from, to)
    }
  }
  const removed = from.map((line): Piece => ({ kind: '-', line }))
  return [...removed, ...to.map((line): Piece => ({ kind: '+', line }))]
}

const at = (furthest: ReadonlyMap<number, number>, diagonal: number): number => furthest.get(diagonal) ?? -1

function pathBack(
  trace: readonly ReadonlyMap<number, number>[],
  from: readonly string[],
  to: readonly string[],
): Piece[] {
  const pieces: Piece[] = []
  let [x, y] = [from.length, to.length]
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const furthest = trace[edits]!
    const diagonal = x - y
    const isDown =
      diagonal === -edits || (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1))
    const before = isDown ? diagonal + 1 : diagonal - 1
    const [fromX, fromY] = [at(furthest, before), at(furthest, before) - before]
    for (; x > fromX && y > fromY && x > 0 && y > 0; y--) pieces.push({ kind: ' ', line: from[--x]! })
    if (edits === 0) break
    if (isDown) pieces.push({ kind: '+', line: to[--y]! })
    else pieces.push({ kind: '-', line: from[--x]! })
  }
  return pieces.reverse()
}

interface Hunk {
  readonly fromLine: number
  readonly toLine: number
  readonly pieces: readonly Piece[]
}

/** Changed lines with the lines around them. */
function hunksOf(pieces: readonly Piece[]): Hunk[] {
  const isNear = nearChanges(pieces)
  const hunks: Hunk[] = []
  let [fromLine, toLine] = [1, 1]
  let open: Piece[] | undefined
  for (const [index, piece] of pieces.entries()) {
    if (!isNear[index]) open = undefined
    else if (open === undefined) hunks.push({ fromLine, toLine, pieces: (open = [piece]) })
    else open.push(piece)
    if (piece.kind !== '+') fromLine++
    if (piece.kind !== '-') toLine++
  }
  return hunks
}

function nearChanges(pieces: readonly Piece[]): readonly boolean[] {
  const isNear = Array<boolean>(pieces.length).fill(false)
  for (const [index, { kind }] of pieces.entries())
    if (kind !== ' ') isNear.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1)
  return isNear
}

const PAINTS = { ' ': undefined, '-': 'red', '+': 'green' } as const

function hunkLines({ fromLine, toLine, pieces }: Hunk): Painted[] {
  const range = (start: number, without: '+' | '-'): string => {
    const count = pieces.filter(({ kind }) => kind !== without).length
    return `${count === 0 ? start - 1 : start},${count}`
  }
  const head = painted(`@@ -${range(fromLine, '+')} +${range(toLine, '-')} @@`, 'cyan')
  return [head, ...pieces.flatMap(pieceLines)]
}

function pieceLines({ kind, line }: Piece): Painted[] {
  const hasEnd = line.endsWith('\n')
  const shown = painted([kind, hasEnd ? line.slice(0, -1) : line], PAINTS[kind])
  return hasEnd ? [shown] : [shown, painted('\\ No newline at end of file')]
}
