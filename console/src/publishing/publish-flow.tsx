import { useState } from 'preact/hooks'
import { confirmWrite } from '../controls/protection.tsx'
import { tell } from '../controls/toast.tsx'
import { ofConfig } from '../live/meant.ts'
import { shownTime, t } from '../language/text.ts'
import { FOR_ALL, ruleOf, type Audience, audienceOf } from './audience.ts'
import { publishConfig, readConfig } from '../server/configs.ts'
import { type GrayRule, type GrayVersion, publishGray, readGrayOf } from '../server/gray.ts'
import { problemOf, RequestError, type RequestProblem } from '../server/problem.ts'
import { keyOf, notePublish } from '../state/last-published.ts'
import { useLoaded } from '../live/loaded.ts'
import { refreshNamespaces } from '../state/namespaces.ts'
import type { Base, Edit } from './edit.ts'
import { MergeDialog } from './merge-dialog.tsx'
import { ReviewSheet } from './review-sheet.tsx'

interface FlowProps {
  /** The time of the version that is restored; absent: the edit is one of the author. */
  readonly restoredMs?: number
  /** The function that publishes; absent: a publish of the edit. */
  readonly send?: (sent: { readonly casMd5: string; readonly comment: string }) => Promise<unknown>
  /** The gray version whose text is edited; absent: the edit is one of the formal version. */
  readonly ofGray?: GrayVersion
  readonly base: Base
  readonly edit: Edit
  readonly onClose: () => void
  readonly onPublished: () => void
  /** The author has merged the edit with newer versions of others, and continues from there. */
  readonly onMerged: (text: string, theirs: Base) => void
}

/**
 * From an edit to a published version: the review, and the merge where somebody else was faster. Nothing is overwritten that
 * the author has not seen, because the md5 of the base is always sent.
 */
export function PublishFlow(props: FlowProps) {
  const { base, edit, send, restoredMs, ofGray, onClose, onPublished, onMerged } = props
  const restored = restoredMs === undefined ? undefined : shownTime(restoredMs)
  const [comment, setComment] = useState(restored === undefined ? '' : t('restoredFrom', { time: restored }))
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<RequestProblem | undefined>()
  const [theirs, setTheirs] = useState<Base | undefined>()
  const [audience, setAudience] = useState<Audience>(ofGray === undefined ? FOR_ALL : audienceOf(ofGray))
  const rule = ruleOf(audience)
  const gray = useLoaded(keyOf(base), () => readGrayOf(base), ofConfig(base))
  const publish = async (): Promise<void> => {
    setBusy(true)
    setProblem(undefined)
    try {
      if (!(await confirmWrite(base.tenant))) return
      const sent = { casMd5: base.md5, comment }
      // The key of an encrypted content belongs to that very content.
      const encryptedDataKey = edit.content === base.content ? (base.encryptedDataKey ?? '') : ''
      if (rule !== undefined)
        await publishForSome({ rule, ofGray, gray: gray.value ?? [], base, edit, comment, encryptedDataKey })
      else if (send === undefined) await publishConfig({ ...base, ...edit, ...sent, encryptedDataKey })
      else await send(sent)
      tell(t('published', { name: base.dataId }))
      notePublish(base)
      // A new item counts in the list of namespaces.
      if (base.md5 === '' && rule === undefined) void refreshNamespaces().catch(() => undefined)
      onPublished()
    } catch (error) {
      const found = problemOf(error)
      if (found.code === 'config-changed' && rule === undefined)
        setTheirs(await currentOf(base).catch(() => undefined))
      setProblem(found)
    } finally {
      setBusy(false)
    }
  }
  if (theirs !== undefined)
    return (
      <MergeDialog
        base={base.content}
        mine={edit.content}
        theirs={theirs}
        onClose={onClose}
        onMerged={(text) => {
          onMerged(text, theirs)
          setTheirs(undefined)
          setProblem(undefined)
        }}
      />
    )
  return (
    <ReviewSheet
      restored={restored}
      base={base}
      edit={edit}
      comment={comment}
      onComment={setComment}
      audience={send === undefined ? audience : undefined}
      onAudience={setAudience}
      gray={gray.value}
      isBusy={isBusy}
      problem={problem}
      onClose={onClose}
      onPublish={() => void publish()}
    />
  )
}

/** Publishes an edit for some clients. Its review has shown the gray version that it replaces. */
async function publishForSome(sent: {
  readonly rule: GrayRule
  /** The one that its author has begun with. */
  readonly ofGray: GrayVersion | undefined
  /** The gray versions of the item, as they are shown. */
  readonly gray: readonly GrayVersion[]
  readonly base: Base
  readonly edit: Edit
  readonly comment: string
  readonly encryptedDataKey: string
}): Promise<void> {
  const { rule, ofGray, gray, base, edit, comment, encryptedDataKey } = sent
  const { tenant, group, dataId } = base
  const { content } = edit
  const type = base.md5 === '' ? edit.type : undefined
  const replaced = [...(ofGray === undefined ? [] : [ofGray]), ...gray].find(
    ({ grayName }) => grayName === rule.grayName,
  )
  const casMd5 = replaced?.md5 ?? ''
  const grayPriority = replaced?.grayType === rule.grayType ? replaced.grayPriority : undefined
  await publishGray({
    tenant,
    group,
    dataId,
    ...rule,
    grayPriority,
    content,
    type,
    casMd5,
    comment,
    encryptedDataKey,
  })
}

/** The current version; an empty one where the item has been deleted. */
async function currentOf(base: Base): Promise<Base> {
  try {
    return await readConfig(base)
  } catch (error) {
    const isGone = error instanceof RequestError && error.problem.code === 'config-not-found'
    if (isGone) return { ...base, content: '', md5: '' }
    throw error
  }
}
