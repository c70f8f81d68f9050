import { type Extension, Facet, type Range as EditorRange, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import { withoutMarks } from './line-ends.ts'
import { secretRanges } from './secrets.ts'

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
    button.textContent = '••••••'
    button.title = this.#label
    button.setAttribute('aria-label', this.#label)
    button.addEventListener('click', () => view.dispatch({ effects: reveal.of(view.posAtDOM(button)) }))
    return button
  }

  override ignoreEvent(): boolean {
    return true
  }
}

/** Shows the value at a place. */
const reveal = StateEffect.define<number>({ map: (at, changes) => changes.mapPos(at) })

const labelOfMasks = Facet.define<string, string>({ combine: ([label = '']) => label })

/**
 * Values of keys such as password are covered until they are clicked. A value that the author has just typed is not covered: nobody
 * could see what is written.
 */
const masks = StateField.define<DecorationSet>({
  create: (state) => masksOver(state.doc.toString(), state.facet(labelOfMasks)),
  update(shown, transaction) {
    let next = shown.map(transaction.changes)
    if (transaction.docChanged) {
      const touched: { from: number; to: number }[] = []
      transaction.changes.iterChangedRanges((...[, , from, to]) => touched.push({ from, to }))
      for (const { from, to } of touched)
        next = next.update({ filterFrom: from, filterTo: to, filter: () => false })
    }
    for (const effect of transaction.effects)
      if (effect.is(reveal)) next = next.update({ filter: (from) => from !== effect.value })
    return next
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
})

function masksOver(text: string, label: string): DecorationSet {
  const widget = Decoration.replace({ widget: new MaskWidget(label) })
  const placed: EditorRange<Decoration>[] = secretRanges(withoutMarks(text, ' ')).map(({ from, to }) =>
    widget.range(from, to),
  )
  return Decoration.set(placed, true)
}

/** Covers secret values; `label` says what a click does. */
export const masking = (label: string): Extension => [labelOfMasks.of(label), masks]
