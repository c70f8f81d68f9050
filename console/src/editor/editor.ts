/** The editor, loaded when one is opened: it is most of the code of the page. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language'
import { linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { MergeView } from '@codemirror/merge'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { type Finding, isWarning } from '../../../src/formats/finding.ts'
import { check, secretRanges } from './checker.ts'
import { languageOf } from './formats.ts'
import { keepLineEnds, textOf } from './kept-line-ends.ts'
import { comparedEnds, withoutMarks } from './line-ends.ts'
import { lineEndMarks } from './line-end-marks.ts'
import { looks } from './looks.ts'
import { masking } from './masking.ts'
import { unseenMarks } from './unseen-marks.ts'

export { applyKeys, changedKeys, check, keysOf, secretRanges } from './checker.ts'

/** The format and the language in which an editor shows a text. */
export interface EditorLooks {
  readonly type: string
  readonly label: string
  /** Phrases of the editor in the language of the page, by the English ones. */
  readonly phrases: Readonly<Record<string, string>>
  /** Says what a click on a covered value does. */
  readonly maskLabel: string
  /** The text of a finding in the language of the page. */
  readonly sayFinding: (finding: Finding) => string
}

/** The content of an editor, and its place. */
export interface EditorOptions extends EditorLooks {
  /** A shadow root: the styles of the editor are its own there, as the Content-Security-Policy asks. */
  readonly root: ShadowRoot
  readonly parent: HTMLElement
  readonly text: string
  readonly isReadOnly: boolean
  readonly onChange: (text: string) => void
}

/** An editor on the screen. */
export interface OpenEditor {
  focus(): void
  /** Shows the same text as another format, or in another language: what was typed can still be undone. */
  relook(looks: EditorLooks): void
  close(): void
}

/** Opens an editor, once it is known what to cover. */
export async function openEditor(options: EditorOptions): Promise<OpenEditor> {
  const { root, parent, text, isReadOnly, onChange, maskLabel } = options
  const covered = masking(maskLabel, await secretRanges(options.type, text))
  const looked = new Compartment()
  const lookOf = (looks: EditorLooks): Extension =>
    isReadOnly ? basics(looks) : [basics(looks), checking(looks)]
  const own: Extension = isReadOnly
    ? [EditorState.readOnly.of(true)]
    : [
        history(),
        indentOnInput(),
        lintGutter(),
        keymap.of([...historyKeymap, ...lintKeymap, indentWithTab]),
        replacing,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(textOf(update.state))
        }),
      ]
  const extensions = [looked.of(lookOf(options)), covered, keepLineEnds(text), own]
  const view = new EditorView({ doc: text, root, parent, extensions })
  const relook = (looks: EditorLooks): void => view.dispatch({ effects: looked.reconfigure(lookOf(looks)) })
  return { focus: () => view.focus(), close: () => view.destroy(), relook }
}

/** Two texts side by side, the old one left; equal lines are folded. Lines that differ in their ends only count as changed. */
export async function openDiff(
  options: Omit<EditorOptions, 'text' | 'onChange'> & { before: string; after: string },
): Promise<OpenEditor> {
  const { root, parent, before, after, maskLabel } = options
  const { texts } = comparedEnds(before, after)
  const [a, b] = await Promise.all(
    texts.map(async (doc) => {
      const covered = masking(maskLabel, await secretRanges(options.type, withoutMarks(doc, ' ')))
      return { doc, extensions: [basics(options), covered, EditorState.readOnly.of(true), lineEndMarks] }
    }),
  )
  const view = new MergeView({
    a: a!,
    b: b!,
    root,
    parent,
    collapseUnchanged: { margin: 3, minSize: 4 },
    gutter: true,
    diffConfig: { scanLimit: 2000, timeout: 1000 },
  })
  // The comparison is opened again.
  return { focus: () => view.b.focus(), close: () => view.destroy(), relook: () => undefined }
}

function basics({ type, phrases, label }: EditorLooks): Extension {
  return [
    lineNumbers(),
    unseenMarks(type),
    foldGutter(),
    codeFolding(),
    drawSelection(),
    bracketMatching(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    EditorState.phrases.of(phrases),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.lineWrapping,
    languageOf(type),
    looks,
  ]
}

/**
 * Typing over a selection. Left to itself, the browser would copy the style of the selected text into an attribute, which the
 * Content-Security-Policy bars.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event
    if (inputType !== 'insertText' || data === null || view.composing || view.state.selection.main.empty)
      return false
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    event.preventDefault()
    return true
  },
})

function checking({ type, sayFinding }: EditorLooks): Extension {
  return linter(async (view) => {
    const { length } = view.state.doc
    const findings = await check(type, view.state.doc.toString())
    return findings.map((finding) => ({
      from: Math.min(finding.from, length),
      to: Math.min(finding.to, length),
      severity: isWarning(finding) ? ('warning' as const) : ('error' as const),
      message: sayFinding(finding),
    }))
  })
}
