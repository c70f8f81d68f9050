import { useRef, useState } from 'preact/hooks'
import { Notice } from '../controls/notice.tsx'
import { CodeView } from '../editor/code-view.tsx'
import { guardEdit, useGuard } from '../controls/leave-dialog.tsx'
import { t } from '../language/text.ts'
import type { ConfigItem, ConfigName } from '../server/configs.ts'
import { DraftNotice, useKeptDraft } from '../publishing/draft-notice.tsx'
import { baseOf, dropDraft, editOf, mayKeep, readDraft } from '../publishing/drafts.ts'
import { LastAuthor } from '../publishing/last-author.tsx'
import { MergeDialog } from '../publishing/merge-dialog.tsx'
import { NotesFields, notesOf, sameNotes } from './notes-fields.tsx'
import type { Base } from '../publishing/edit.ts'
import { PublishFlow } from '../publishing/publish-flow.tsx'
import { ReviewButton } from '../publishing/review-button.tsx'
import { formatOf } from '../publishing/format-of.ts'

/** Edits an item. The typed text stays here until it is published or thrown away, whatever happens to the session. */
export function EditConfig(props: {
  readonly item: ConfigItem
  readonly onEnd: (isPublished: boolean) => void
}) {
  const { onEnd } = props
  // The version that the author has begun with, whatever the server has meanwhile.
  const [draft, setDraft] = useState(() => readDraft(props.item, Date.now()))
  const [base, setBase] = useState<Base>(draft === undefined ? props.item : { ...props.item, ...draft.base })
  const [text, setText] = useState(draft?.edit.content ?? base.content)
  const [notes, setNotes] = useState(notesOf(draft?.edit ?? base))
  const [merges, setMerges] = useState(0)
  const [isReviewing, setReviewing] = useState(false)
  const hasEdit = text !== base.content || !sameNotes(notes, base)
  const edit = editOf(text, notes)
  const drop = (): void => dropDraft(props.item)
  const latest = useRef({ edit, base })
  latest.current = { edit, base }
  const isKept = (): boolean => mayKeep(latest.current.edit, latest.current.base)
  const draftNow = hasEdit ? { name: nameOf(base), edit, base: baseOf(base) } : undefined
  const keep = useKeptDraft(props.item, draftNow)
  useGuard(hasEdit ? { isKept, keep, drop } : undefined)
  const end = (isPublished: boolean): void => {
    guardEdit(undefined)
    drop()
    onEnd(isPublished)
  }
  const beginAgain = (): void => {
    drop()
    setDraft(undefined)
    setBase(props.item)
    setText(props.item.content)
    setNotes(notesOf(props.item))
    setMerges(merges + 1)
  }
  const goOnFrom = (merged: string, theirs: Base): void => {
    setBase(theirs)
    setText(merged)
    setMerges(merges + 1)
  }
  return (
    <>
      {props.item.md5 !== base.md5 && (
        <NewerVersion base={base} mine={text} theirs={props.item} onMerged={goOnFrom} />
      )}
      {draft !== undefined && <DraftNotice atMs={draft.atMs} onDiscard={beginAgain} />}
      <div class="two">
        <CodeView
          key={merges}
          text={text}
          type={formatOf(notes.type, base.dataId)}
          label={t('contentOf', { name: base.dataId })}
          onChange={setText}
          hasFocus
        />
        <div class="stack">
          <div class="buttons">
            <ReviewButton isDisabled={!hasEdit || text.trim() === ''} onReview={() => setReviewing(true)} />
            <button type="button" class="button" onClick={() => onEnd(false)}>
              {t('cancel')}
            </button>
          </div>
          <div class="card padded form">
            <NotesFields notes={notes} onChange={setNotes} />
          </div>
        </div>
        {isReviewing && (
          <PublishFlow
            base={base}
            edit={edit}
            onClose={() => setReviewing(false)}
            onPublished={() => end(true)}
            onMerged={goOnFrom}
          />
        )}
      </div>
    </>
  )
}

const nameOf = ({ tenant, group, dataId }: ConfigName): ConfigName => ({ tenant, group, dataId })

/** Somebody has published while this was being edited. */
function NewerVersion(props: {
  readonly base: Base
  readonly mine: string
  readonly theirs: ConfigItem
  readonly onMerged: (text: string, theirs: Base) => void
}) {
  const { base, mine, theirs, onMerged } = props
  const [isMerging, setMerging] = useState(false)
  return (
    <div class="banner">
      <Notice kind="warn">
        {t('publishedMeanwhile')}
        <LastAuthor name={theirs} md5={theirs.md5} />
        <div>
          <button type="button" class="button small" onClick={() => setMerging(true)}>
            {t('bringTogether')}
          </button>
        </div>
      </Notice>
      {isMerging && (
        <MergeDialog
          base={base.content}
          mine={mine}
          theirs={theirs}
          onClose={() => setMerging(false)}
          onMerged={(text) => {
            setMerging(false)
            onMerged(text, theirs)
          }}
        />
      )}
    </div>
  )
}
