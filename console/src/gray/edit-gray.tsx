import { useRef, useState } from 'preact/hooks'
import { DraftNotice, useKeptDraft } from '../publishing/draft-notice.tsx'
import { type DraftPlace, dropDraft, mayKeep, readDraft } from '../publishing/drafts.ts'
import type { Base, Edit } from '../publishing/edit.ts'
import { MergeDialog } from '../publishing/merge-dialog.tsx'
import { PublishFlow } from '../publishing/publish-flow.tsx'
import { ReviewButton } from '../publishing/review-button.tsx'
import { Ago } from '../controls/ago.tsx'
import { LoadProblem, Notice } from '../controls/notice.tsx'
import { CodeView } from '../editor/code-view.tsx'
import { guardEdit, useGuard } from '../controls/leave-dialog.tsx'
import { t } from '../language/text.ts'
import type { ConfigItem, ConfigName } from '../server/configs.ts'
import { type GrayVersionText, readGrayText } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'
import { formatOf } from '../publishing/format-of.ts'

interface EditProps {
  readonly name: ConfigName
  readonly formal: ConfigItem | undefined
  readonly grayName: string
  readonly onEnd: () => void
}

/** Edits the text of a gray version, as it was when the edit began. The browser keeps a draft of it. */
export function EditGray(props: EditProps) {
  const { name, grayName, onEnd } = props
  const found = useLoaded(JSON.stringify([name, grayName]), () => readGrayText(name, grayName))
  if (found.value !== undefined) return <Editing {...props} version={found.value} />
  if (found.problem === undefined) return <p class="loading">{t('loading')}</p>
  return (
    <div class="stack">
      <LoadProblem found={found} />
      {found.problem.code === 'gray-not-found' && <LeftDraft place={{ ...name, grayName }} onEnd={onEnd} />}
    </div>
  )
}

/** The draft of a gray version that has ended meanwhile: its text can be copied elsewhere. */
function LeftDraft({ place, onEnd }: { readonly place: DraftPlace; readonly onEnd: () => void }) {
  const [draft] = useState(() => readDraft(place, Date.now()))
  if (draft === undefined) return null
  const { type, content } = draft.edit
  const discard = (): void => {
    dropDraft(place)
    onEnd()
  }
  return (
    <>
      <DraftNotice atMs={draft.atMs} onDiscard={discard} />
      <CodeView text={content} type={formatOf(type, place.dataId)} label={t('content')} />
    </>
  )
}

function Editing({ name, formal, version, onEnd }: EditProps & { readonly version: GrayVersionText }) {
  const place: DraftPlace = { ...name, grayName: version.grayName }
  const [draft, setDraft] = useState(() => readDraft(place, Date.now()))
  /** The gray version that the author has seen, whatever there is now. */
  const [seen, setSeen] = useState<Seen>(draft?.base ?? version)
  const [text, setText] = useState(draft?.edit.content ?? version.content)
  const [merges, setMerges] = useState(0)
  const [isReviewing, setReviewing] = useState(false)
  const nothing: Edit = { type: version.type ?? 'text', desc: '', appName: '', configTags: '', content: '' }
  const base: Base = formal ?? { ...name, ...nothing, md5: '' }
  const { type, desc, appName, configTags } = base
  const notes = { type, desc, appName, configTags }
  const edit: Edit = { ...notes, content: text }
  const hasEdit = text !== seen.content
  const drop = (): void => dropDraft(place)
  const latest = useRef({ edit, seen })
  latest.current = { edit, seen }
  const isKept = (): boolean => mayKeep(latest.current.edit, latest.current.seen)
  const begun = { ...notes, content: seen.content, md5: seen.md5 }
  const keep = useKeptDraft(place, hasEdit ? { name: place, edit, base: begun } : undefined)
  useGuard(hasEdit ? { isKept, keep, drop } : undefined)
  const beginFrom = (content: string): void => {
    setDraft(undefined)
    setSeen(version)
    setText(content)
    setMerges(merges + 1)
  }
  return (
    <div class="stack">
      {version.md5 !== seen.md5 && (
        <NewerGray seen={seen} mine={text} base={base} version={version} onMerged={beginFrom} />
      )}
      {draft !== undefined && (
        <DraftNotice
          atMs={draft.atMs}
          onDiscard={() => {
            drop()
            beginFrom(version.content)
          }}
        />
      )}
      <div class="buttons">
        <ReviewButton isDisabled={!hasEdit || text.trim() === ''} onReview={() => setReviewing(true)} />
        <button type="button" class="button" onClick={onEnd}>
          {t('cancel')}
        </button>
      </div>
      <CodeView
        key={merges}
        text={text}
        type={formatOf(type, name.dataId)}
        label={t('grayVersionOf', { name: version.grayName })}
        onChange={setText}
        hasFocus
      />
      {isReviewing && (
        <PublishFlow
          ofGray={{ ...version, md5: seen.md5 }}
          base={base}
          edit={edit}
          onClose={() => setReviewing(false)}
          onPublished={() => {
            guardEdit(undefined)
            drop()
            onEnd()
          }}
          onMerged={(merged) => {
            setText(merged)
            setMerges(merges + 1)
          }}
        />
      )}
    </div>
  )
}

/** A text of the gray version, with its md5. */
type Seen = Pick<GrayVersionText, 'content' | 'md5'>

/** Somebody has published the gray version after the draft was begun. */
function NewerGray(props: {
  readonly seen: Seen
  readonly mine: string
  readonly base: Base
  readonly version: GrayVersionText
  readonly onMerged: (text: string) => void
}) {
  const { seen, mine, base, version, onMerged } = props
  const [isMerging, setMerging] = useState(false)
  const { content, md5, modifyUser, modifyIp, modifyTime, comment } = version
  return (
    <Notice kind="warn">
      {t('publishedMeanwhile')}
      <div>
        <strong dir="auto">{modifyUser ?? modifyIp}</strong> · <Ago atMs={modifyTime} />
        {comment !== '' && <span dir="auto"> · “{comment}”</span>}
      </div>
      <button type="button" class="button small" onClick={() => setMerging(true)}>
        {t('bringTogether')}
      </button>
      {isMerging && (
        <MergeDialog
          base={seen.content}
          mine={mine}
          theirs={{ ...base, content, md5 }}
          onClose={() => setMerging(false)}
          onMerged={(text) => {
            setMerging(false)
            onMerged(text)
          }}
        />
      )}
    </Notice>
  )
}
