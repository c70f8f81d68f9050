import { useMemo, useState } from 'preact/hooks'
import { CoveredText } from '../controls/covered.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons } from '../controls/field.tsx'
import { Notice } from '../controls/notice.tsx'
import type { Range } from '../../../src/formats/tree.ts'
import { loadEditor } from '../editor/code-view.tsx'
import { type Line, LINE_END_NAMES, withLf } from '../editor/line-ends.ts'
import { shownNumber, t } from '../language/text.ts'
import { useLoaded } from '../live/loaded.ts'
import { formatOf } from './format-of.ts'
import { LastAuthor } from './last-author.tsx'
import { mergedText, mergeTexts, type MergePart } from './merge-texts.ts'
import type { Base } from './edit.ts'

/** The side whose lines are taken where both have changed the same ones. */
type Choice = 'theirs' | 'mine' | 'both' | 'base'

const CHOICES: readonly Choice[] = ['theirs', 'mine', 'both', 'base']

/** The parts to cover in each line that has some. A line that is covered in one text is covered in all. */
type Covers = ReadonlyMap<string, readonly Range[]>

async function coversIn(type: string, texts: readonly string[]): Promise<Covers> {
  const covers = new Map<string, Range[]>()
  const { secretRanges } = await loadEditor()
  for (const text of texts.map(withLf))
    for (const { from, to } of await secretRanges(type, text)) {
      const start = text.lastIndexOf('\n', from - 1) + 1
      const end = text.indexOf('\n', to)
      const line = text.slice(start, end < 0 ? undefined : end)
      const there = (covers.get(line) ?? []).filter((one) => one.from !== from - start)
      covers.set(line, [...there, { from: from - start, to: to - start }])
    }
  return covers
}

/** Somebody else has published meanwhile: shows their text, mine and the one that both began with, and merges them. */
export function MergeDialog(props: {
  readonly base: string
  readonly mine: string
  readonly theirs: Base
  readonly onClose: () => void
  readonly onMerged: (text: string) => void
}) {
  const { base, mine, theirs, onClose, onMerged } = props
  const parts = useMemo(() => mergeTexts(base, mine, theirs.content), [base, mine, theirs.content])
  const [choices, setChoices] = useState<Readonly<Record<number, Choice>>>({})
  const texts = [base, mine, theirs.content]
  const format = formatOf(theirs.type, theirs.dataId)
  const covers = useLoaded(JSON.stringify([format, ...texts]), () => coversIn(format, texts)).value
  const conflicts = parts.flatMap((part, index) => (part.kind === 'conflict' ? [index] : []))
  const isReady = conflicts.every((index) => choices[index] !== undefined)
  const merge = (): void => {
    if (isReady)
      onMerged(
        mergedText(
          parts.flatMap((part, index) => linesOf(part, choices[index])),
          mine,
        ),
      )
  }
  return (
    <Dialog
      isWide
      title={t('mergeTitle', { name: theirs.dataId })}
      onClose={onClose}
      onSubmit={merge}
      footer={<DialogButtons done={t('useMerged')} onCancel={onClose} isDisabled={!isReady} />}
    >
      <Notice kind="warn">
        {theirs.md5 === '' ? t('mergeDeleted') : t('mergeText')}{' '}
        {conflicts.length === 0
          ? t('mergeNoConflict')
          : t('mergeConflicts', { count: shownNumber(conflicts.length) })}
        <LastAuthor name={theirs} md5={theirs.md5} />
      </Notice>
      {covers === undefined && <p class="loading">{t('loading')}</p>}
      {(covers === undefined ? [] : parts).map((part, index) =>
        part.kind === 'same' ? (
          <SameLines key={index} lines={part.lines} covers={covers!} />
        ) : (
          <Conflict
            key={index}
            part={part}
            covers={covers!}
            name={`conflict-${index}`}
            choice={choices[index]}
            onChoose={(choice) => setChoices({ ...choices, [index]: choice })}
          />
        ),
      )}
    </Dialog>
  )
}

function linesOf(part: MergePart, choice: Choice | undefined): readonly Line[] {
  if (part.kind === 'same') return part.lines
  if (choice === 'both') return [...part.theirs, ...part.mine]
  return choice === undefined ? [] : part[choice]
}

const SHOWN_LINES = 3

/** Lines; `endOf` gives a text behind each. */
function CoveredLines(props: {
  readonly lines: readonly string[]
  readonly covers: Covers
  readonly endOf?: (index: number) => string
}) {
  const { lines, covers, endOf } = props
  const ranges: Range[] = []
  let shown = ''
  lines.forEach((line, index) => {
    if (index > 0) shown += '\n'
    for (const { from, to } of covers.get(line) ?? [])
      ranges.push({ from: shown.length + from, to: shown.length + to })
    shown += line + (endOf?.(index) ?? '')
  })
  return <CoveredText text={shown} ranges={ranges} />
}

function SameLines({ lines: all, covers }: { lines: readonly Line[]; covers: Covers }) {
  const lines = all.map(({ text }) => text)
  const [isOpen, setOpen] = useState(lines.length <= 2 * SHOWN_LINES + 1)
  const shown = isOpen ? lines : [...lines.slice(0, SHOWN_LINES), '⋯', ...lines.slice(-SHOWN_LINES)]
  return (
    <div class="merge-block">
      <pre class="merge-same" tabIndex={0}>
        <CoveredLines lines={shown} covers={covers} />
      </pre>
      {!isOpen && (
        <div class="merge-choice">
          <button type="button" class="link" onClick={() => setOpen(true)}>
            {t('showAllLines', { count: shownNumber(lines.length) })}
          </button>
        </div>
      )}
    </div>
  )
}

const endShown = ({ end }: Line, hasEnds: boolean): string =>
  hasEnds && end !== '' ? ` ⟨${LINE_END_NAMES[end]}⟩` : ''

function Conflict(props: {
  readonly part: Extract<MergePart, { kind: 'conflict' }>
  readonly covers: Covers
  readonly name: string
  readonly choice: Choice | undefined
  readonly onChoose: (choice: Choice) => void
}) {
  const { part, covers, name, choice, onChoose } = props
  const kinds = new Set([...part.theirs, ...part.base, ...part.mine].map(({ end }) => end || undefined))
  // Lines may differ in nothing but their ends.
  const hasEnds = kinds.size > (kinds.has(undefined) ? 2 : 1)
  return (
    <fieldset class="merge-block conflict">
      <legend class="hidden">{t('conflict')}</legend>
      <div class="merge-sides">
        {(['theirs', 'base', 'mine'] as const).map((side) => (
          <section key={side}>
            <h3>{t(`side.${side}`)}</h3>
            <pre tabIndex={0}>
              {part[side].length === 0 ? (
                t('noLines')
              ) : (
                <CoveredLines
                  lines={part[side].map(({ text }) => text)}
                  covers={covers}
                  endOf={(index) => endShown(part[side][index]!, hasEnds)}
                />
              )}
            </pre>
          </section>
        ))}
      </div>
      <div class="merge-choice">
        {CHOICES.map((one) => (
          <label key={one} class="check">
            <input type="radio" name={name} checked={choice === one} onChange={() => onChoose(one)} />
            {t(`take.${one}`)}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
