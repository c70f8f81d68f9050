import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import type { Range } from '../../../src/formats/tree.ts'

/** Shown instead of a value. */
const COVER = '••••••'

/** The element shown instead of a value; a click on it shows the value. */
class MaskWidget extends WidgetType {
  readonly #label: string

  constructor(label: string) {
    super()
    this.#label = label
  }

  override eq(other: MaskWidget): boolean {
    return other.#label === this.#label
  }

  toDOM(view: EditorView): HTMLElement {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'cm-mask'
    button.textContent = COVER
    button.title = this.#label
    button.setAttribute('aria-label', this.#label)
    button.addEventListener('click', () => {
      const at = view.posAtDOM(button)
      view.dispatch({ effects: reveal.of({ from: at, to: at }) })
    })
    return button
  }

  override ignoreEvent(): boolean {
    return true
  }
}

/** Shows the values that begin in a part of the text. */
const reveal = StateEffect.define<Range>({
  map: ({ from, to }, changes) => ({ from: changes.mapPos(from), to: changes.mapPos(to) }),
})

/**
 * Values of keys such as password are covered until they are clicked. A value that the author has just typed is not covered: nobody
 * could see what is written.
 */
const masks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let next = shown.map(transaction.changes)
    if (transaction.docChanged) {
      const touched: Range[] = []
      transaction.changes.iterChangedRanges((...[, , from, to]) => touched.push({ from, to }))
      for (const { from, to } of touched)
        next = next.update({ filterFrom: from, filterTo: to, filter: () => false })
    }
    for (const { value } of transaction.effects.filter((effect) => effect.is(reveal)))
      next = next.update({ filter: (from) => from < value.from || from > value.to })
    return next
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
})

/** The parts of the text that are selected; where none is, the lines of the cursors, which a copy takes. */
function takenRanges({ selection, doc }: EditorState): readonly Range[] {
  const ranges = selection.ranges.filter(({ empty }) => !empty)
  return ranges.length > 0 ? ranges : selection.ranges.map(({ head }) => doc.lineAt(head))
}

function coveredIn(state: EditorState, { from, to }: Range): Range[] {
  const found: Range[] = []
  state.field(masks).between(from, to, (start, end) => {
    if (start < to && end > from) found.push({ from: Math.max(start, from), to: Math.min(end, to) })
  })
  return found
}

/** A copy has the covers, and not the values. */
function copied(text: string, state: EditorState): string {
  const taken = takenRanges(state)
  if (taken.every((range) => coveredIn(state, range).length === 0)) return text
  return taken
    .map((range) => {
      let [result, at] = ['', range.from]
      for (const { from, to } of coveredIn(state, range)) {
        result += state.sliceDoc(at, from) + COVER
        at = to
      }
      return result + state.sliceDoc(at, range.to)
    })
    .join(state.lineBreak)
}

/** A value that is moved must be seen first: the covers of a copy in its place would be published. */
function showBefore(event: Event, view: EditorView): boolean {
  const taken = takenRanges(view.state)
  if (view.state.readOnly || taken.every((range) => coveredIn(view.state, range).length === 0)) return false
  view.dispatch({ effects: taken.map(({ from, to }) => reveal.of({ from, to })) })
  event.preventDefault()
  return true
}

/** Covers these parts of the text; `label` says what a click does. */
export function masking(label: string, ranges: readonly Range[]): Extension {
  const widget = Decoration.replace({ widget: new MaskWidget(label) })
  const covers = Decoration.set(
    ranges.map(({ from, to }) => widget.range(from, to)),
    true,
  )
  return [
    masks.init(() => covers),
    EditorView.clipboardOutputFilter.of(copied),
    EditorView.domEventHandlers({ cut: showBefore, dragstart: showBefore }),
  ]
}
