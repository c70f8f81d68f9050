import { invertedEffects } from '@codemirror/commands'
import {
  type ChangeDesc,
  type EditorState,
  type Extension,
  RangeSet,
  RangeValue,
  StateEffect,
  StateField,
  type Transaction,
} from '@codemirror/state'
import { lineEndsOf, type LineEnd, linesOf } from './line-ends.ts'

/** The end of a line, over the character of the editor that stands for it. Characters typed beside it are not under it. */
class EndMark extends RangeValue {
  readonly end: LineEnd
  override startSide = 1
  override endSide = -1

  constructor(end: LineEnd) {
    super()
    this.end = end
  }

  override eq(other: RangeValue): boolean {
    return other instanceof EndMark && other.end === this.end
  }
}

/** A line end that a change removed, and its place. */
interface PlacedEnd {
  readonly at: number
  readonly end: LineEnd
}

/** The end of most lines, and where another one is. */
interface Kept {
  readonly usual: LineEnd
  readonly others: RangeSet<EndMark>
}

/** Puts back ends that a change has removed, when the change is undone. */
const putBack = StateEffect.define<readonly PlacedEnd[]>({
  map: (all, changes) => all.map(({ at, end }) => ({ at: changes.mapPos(at, 1), end })),
})

const kept = StateField.define<Kept>({
  create: () => ({ usual: '\n', others: RangeSet.empty }),
  update(value, transaction) {
    let { others } = value
    if (transaction.docChanged && others.size > 0)
      others = withoutRemoved(others, transaction.changes).map(transaction.changes)
    for (const effect of transaction.effects)
      if (effect.is(putBack)) others = others.update({ add: effect.value.map(rangeOf), sort: true })
    return others === value.others ? value : { ...value, others }
  },
})

/**
 * Keeps the line ends of a text, which an editor knows no difference of: unchanged lines keep their own, new ones get the usual
 * one. Undoing brings the removed ones back.
 */
export function keepLineEnds(text: string): Extension {
  return [
    kept.init(() => ({ usual: lineEndsOf(text).usual ?? '\n', others: othersIn(text) })),
    invertedEffects.of((transaction) => {
      const removed = removedBy(transaction)
      return removed.length === 0 ? [] : [putBack.of(removed)]
    }),
  ]
}

/** The text of an editor, with the line ends that were kept. */
export function textOf(state: EditorState): string {
  const { doc } = state
  const { usual, others } = state.field(kept)
  let text = ''
  let at = 0
  for (const mark = others.iter(); mark.value !== null; mark.next()) {
    text += doc.sliceString(at, mark.from, usual) + mark.value.end
    at = mark.to
  }
  return text + doc.sliceString(at, doc.length, usual)
}

function othersIn(text: string): RangeSet<EndMark> {
  const { usual, isMixed } = lineEndsOf(text)
  if (!isMixed) return RangeSet.empty
  const placed: PlacedEnd[] = []
  let at = 0
  for (const line of linesOf(text)) {
    at += line.text.length
    if (line.end !== '' && line.end !== usual) placed.push({ at, end: line.end })
    at++
  }
  return RangeSet.of(placed.map(rangeOf))
}

const rangeOf = ({ at, end }: PlacedEnd) => new EndMark(end).range(at, at + 1)

function withoutRemoved(others: RangeSet<EndMark>, changes: ChangeDesc): RangeSet<EndMark> {
  let left = others
  changes.iterChangedRanges((from, to) => {
    if (from < to)
      left = left.update({
        filterFrom: from,
        filterTo: to,
        filter: (start, end) => end <= from || start >= to,
      })
  })
  return left
}

function removedBy({ startState, changes }: Transaction): PlacedEnd[] {
  const { others } = startState.field(kept)
  const removed: PlacedEnd[] = []
  if (others.size === 0) return removed
  changes.iterChangedRanges((from, to) => {
    if (from < to)
      others.between(from, to, (at, until, { end }) => {
        if (until > from && at < to) removed.push({ at, end })
      })
  })
  return removed
}
