import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Icon } from '../controls/icon.tsx'
import { language, t } from '../language/text.ts'
import { problemOf, type RequestProblem } from '../server/problem.ts'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import type { EditorLooks, OpenEditor } from './editor.ts'
import { comparedEnds, LINE_END_NAMES, lineEndsOf } from './line-ends.ts'
import { editorPhrases, sayFinding } from './phrases.ts'

type EditorModule = typeof import('./editor.ts')

/** Loads the editor, once. */
export const loadEditor = (): Promise<EditorModule> => import('./editor.ts')

interface Common {
  readonly type: string
  readonly label: string
}

/** A text with line numbers, folding and search; an editor where `onChange` is given. */
export function CodeView(
  props: Common & {
    readonly text: string
    readonly onChange?: (text: string) => void
    /** Whether somebody types there at once. */
    readonly hasFocus?: boolean
  },
) {
  const { text, type, label, onChange, hasFocus = false } = props
  const latest = useRef(onChange)
  latest.current = onChange
  const current = useRef(text)
  if (onChange === undefined) current.current = text
  const isReadOnly = onChange === undefined
  // The typed text is in the editor already: another format or language only changes how it looks.
  const key = isReadOnly ? [type, text, language.value].join('\n') : 'edit'
  return (
    <EditorPlace
      openKey={key}
      looks={isReadOnly ? undefined : looksOf({ type, label })}
      hasFocus={hasFocus}
      about={shownEnds(text)}
      open={(editor, root, parent) =>
        editor.openEditor({
          ...optionsOf({ type, label }, root, parent),
          text: current.current,
          isReadOnly,
          onChange: (changed) => {
            current.current = changed
            latest.current?.(changed)
          },
        })
      }
    />
  )
}

/** Two texts side by side; values of keys such as password are covered in both. */
export function DiffView(props: Common & { readonly before: string; readonly after: string }) {
  const { before, after, type, label } = props
  return (
    <>
      <EndsNotice before={before} after={after} />
      <EditorPlace
        isShort
        openKey={[type, before, after, language.value].join('\n')}
        open={(editor, root, parent) =>
          editor.openDiff({ ...optionsOf({ type, label }, root, parent), before, after, isReadOnly: true })
        }
      />
    </>
  )
}

/** The text of the bar about bytes that an editor does not show; empty for a text with LF. */
function shownEnds(text: string): string {
  const { usual, isMixed } = lineEndsOf(text)
  const ends = isMixed ? t('mixedEnds') : usual === undefined || usual === '\n' ? '' : LINE_END_NAMES[usual]
  return [ends, text.startsWith('\uFEFF') ? 'BOM' : ''].filter((part) => part !== '').join(' · ')
}

const endsName = (text: string): string => {
  const { usual, isMixed } = lineEndsOf(text)
  return isMixed ? t('mixedEnds') : usual === undefined ? '' : LINE_END_NAMES[usual]
}

/** Says where two texts differ in their line ends, which nobody sees. */
function EndsNotice({ before, after }: { readonly before: string; readonly after: string }) {
  const { onlyEndsDiffer, unmarked } = useMemo(() => comparedEnds(before, after), [before, after])
  const [old, young] = [endsName(before), endsName(after)]
  const areOther = onlyEndsDiffer || (old !== young && old !== '' && young !== '')
  if (!areOther && unmarked === undefined) return null
  return (
    <Notice kind="plain" icon="eye">
      {areOther && t(onlyEndsDiffer ? 'onlyEndsDiffer' : 'endsDiffer', { before: old, after: young })}{' '}
      {unmarked !== undefined && t('endsMarked', { end: LINE_END_NAMES[unmarked] })}
    </Notice>
  )
}

const optionsOf = (common: Common, root: ShadowRoot, parent: HTMLElement) => ({
  root,
  parent,
  ...looksOf(common),
})

function looksOf({ type, label }: Common): EditorLooks {
  return {
    type,
    label,
    phrases: editorPhrases(),
    maskLabel: t('showValue'),
    sayFinding,
  }
}

function EditorPlace(props: {
  readonly openKey: string
  readonly open: (editor: EditorModule, root: ShadowRoot, parent: HTMLElement) => Promise<OpenEditor>
  /** How the open editor looks; undefined where another look opens it again. */
  readonly looks?: EditorLooks | undefined
  readonly isShort?: boolean
  readonly hasFocus?: boolean
  /** The text of the bar. */
  readonly about?: string
}) {
  const host = useRef<HTMLDivElement>(null)
  const opened = useRef<OpenEditor | undefined>(undefined)
  const [isFull, setFull] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const [problem, setProblem] = useState<RequestProblem | undefined>()
  useEffect(() => {
    const element = host.current!
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const parent = document.createElement('div')
    parent.style.height = '100%'
    let isGone = false
    const open = async (): Promise<void> => {
      const editor = await loadEditor()
      if (isGone) return
      const made = await props.open(editor, root, parent)
      if (isGone) return made.close()
      root.replaceChildren(parent)
      opened.current = made
      setOpen(true)
      if (props.hasFocus === true) made.focus()
    }
    open().catch((error: unknown) => setProblem(problemOf(error)))
    return () => {
      isGone = true
      opened.current?.close()
      opened.current = undefined
    }
  }, [props.openKey])
  const { looks } = props
  useEffect(() => {
    if (looks !== undefined) opened.current?.relook(looks)
  }, [looks?.type, looks?.label, language.value])
  const shape = [props.isShort === true ? 'short' : '', isFull ? 'full' : ''].join(' ')
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'F11' || (event.key === 'Escape' && isFull)) {
      event.preventDefault()
      event.stopPropagation()
      setFull(event.key === 'F11' && !isFull)
    }
  }
  return (
    <div class={`code-place ${shape}`} onKeyDown={onKeyDown}>
      {props.isShort !== true && (
        <div class="code-bar">
          <span class="soft">{t('editorKeys')}</span>
          <span class="space" />
          {props.about !== undefined && props.about !== '' && <span class="badge">{props.about}</span>}
          <button
            type="button"
            class="button quiet small"
            aria-pressed={isFull}
            onClick={() => setFull(!isFull)}
          >
            <Icon name="full" />
            {isFull ? t('smallScreen') : t('fullScreen')}
          </button>
        </div>
      )}
      <ProblemNotice problem={problem} />
      {!isOpen && problem === undefined && <p class="code-loading">{t('loading')}</p>}
      <div ref={host} class="code-host" />
    </div>
  )
}
