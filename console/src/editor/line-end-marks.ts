import { Decoration, EditorView, MatchDecorator, ViewPlugin, WidgetType } from '@codemirror/view'
import { LINE_END_NAMES, markedEnd, withoutMarks } from './line-ends.ts'

/** The name of a line end, after its line. */
class EndWidget extends WidgetType {
  readonly #name: string

  constructor(name: string) {
    super()
    this.#name = name
  }

  override eq(other: EndWidget): boolean {
    return other.#name === this.#name
  }

  toDOM(): HTMLElement {
    const shown = document.createElement('span')
    shown.className = 'cm-line-end'
    shown.textContent = this.#name
    return shown
  }
}

const shownEnds = new MatchDecorator({
  regexp: /[\uF8F0-\uF8F2]/g,
  decoration: ([mark]) => {
    const end = markedEnd(mark)
    return end === undefined ? null : Decoration.replace({ widget: new EndWidget(LINE_END_NAMES[end]) })
  },
})

/** Shows the marks of {@link comparedEnds} as names of line ends. A copied text has none. */
export const lineEndMarks = [
  ViewPlugin.define(
    (view) => ({
      shown: shownEnds.createDeco(view),
      update(update) {
        this.shown = shownEnds.updateDeco(update, this.shown)
      },
    }),
    { decorations: ({ shown }) => shown },
  ),
  EditorView.clipboardOutputFilter.of((text) => withoutMarks(text, '')),
]
