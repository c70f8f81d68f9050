import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours are those of the page: its custom properties reach into the shadow root. */
const colours = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--card)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-soft)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent) !important',
  },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panels button, .cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
  },
  '.cm-textfield': {
    backgroundColor: 'var(--card)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
  },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: '6px',
    alignItems: 'center',
    padding: '6px 32px 6px 8px',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '4px',
    minWidth: '24px',
    minHeight: '26px',
    margin: '0',
    fontSize: '12.5px',
  },
  '.cm-panel.cm-search input[type=checkbox]': { minHeight: '16px', minWidth: '16px' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
  },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-soft)',
    border: '1px solid var(--line)',
  },
  '.cm-mask': {
    padding: '0 6px',
    border: '1px dashed var(--line-strong)',
    borderRadius: '4px',
    background: 'var(--sunken)',
    color: 'var(--ink-soft)',
    font: 'inherit',
    fontSize: '12px',
    cursor: 'pointer',
  },
  '.cm-trailingSpace, .cm-specialChar': {
    backgroundColor: 'color-mix(in srgb, var(--warn) 35%, transparent)',
    color: 'var(--ink)',
  },
  '.cm-line-end': {
    marginLeft: '4px',
    padding: '0 4px',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
    color: 'var(--ink)',
    fontSize: '11px',
  },
  '.cm-collapsedLines': {
    backgroundImage: 'none',
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-soft)',
    padding: '3px 10px',
  },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' },
  '.cm-changedText, .cm-insertedLine .cm-changedText': {
    backgroundImage: 'none !important',
    backgroundColor: 'color-mix(in srgb, var(--good) 22%, transparent)',
  },
  // The colours of words are too weak on these.
  '.cm-changedText, .cm-changedText *': { color: 'var(--ink)' },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 12%, transparent) !important' },
  '&.cm-merge-a .cm-changedText': {
    backgroundColor: 'color-mix(in srgb, var(--bad) 22%, transparent)',
  },
  '&.cm-merge-a .cm-changedLine': {
    backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent) !important',
  },
})

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.tagName], color: 'var(--syntax-key)' },
  { tag: [tags.string, tags.attributeValue, tags.content], color: 'var(--syntax-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--syntax-number)' },
  { tag: [tags.keyword, tags.typeName, tags.meta, tags.heading], color: 'var(--syntax-word)' },
  { tag: tags.attributeName, color: 'var(--syntax-word)' },
  { tag: tags.comment, color: 'var(--ink-soft)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

/** How every editor looks, in all themes. */
export const looks: Extension = [colours, syntaxHighlighting(words)]
