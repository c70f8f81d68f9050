import { useEffect, useRef, useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Notice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { type Draft, type DraftPlace, dropDraft, keepDraft, readDraft } from './drafts.ts'

/** How long typing rests before a draft is kept. */
const WAIT_MS = 400

/**
 * Keeps an edit as a draft while somebody types; undefined: there is nothing to keep. The answer keeps it at once, for who leaves
 * before typing has rested.
 */
export function useKeptDraft(place: DraftPlace, draft: Omit<Draft, 'atMs'> | undefined): () => void {
  const text = draft === undefined ? '' : JSON.stringify([draft.name, draft.edit])
  const latest = useRef(draft)
  latest.current = draft
  const first = useRef(text)
  const isWaiting = useRef(false)
  const keepNow = (): void => {
    if (isWaiting.current && latest.current !== undefined)
      keepDraft(place, { ...latest.current, atMs: Date.now() })
    isWaiting.current = false
  }
  useEffect(() => {
    if (text === first.current) return undefined
    // It is as it was published.
    if (text === '') {
      isWaiting.current = false
      dropDraft(place)
      return undefined
    }
    isWaiting.current = true
    const timer = setTimeout(keepNow, WAIT_MS)
    return () => clearTimeout(timer)
  }, [text])
  return keepNow
}

/** Says that what is shown is a draft, how old it is, and throws it away. */
export function DraftNotice({ atMs, onDiscard }: { readonly atMs: number; readonly onDiscard: () => void }) {
  return (
    <div class="banner">
      <Notice kind="plain" icon="edit">
        {t('draftShown')} <Ago atMs={atMs} />{' '}
        <button type="button" class="button small" onClick={onDiscard}>
          {t('discardDraft')}
        </button>
      </Notice>
    </div>
  )
}

/** Names the draft that this browser keeps of an item or a gray version; `href` leads to its edit. */
export function DraftThere({ place, href }: { readonly place: DraftPlace; readonly href: string }) {
  const [draft, setDraft] = useState(() => readDraft(place, Date.now()))
  if (draft === undefined) return null
  const discard = (): void => {
    dropDraft(place)
    setDraft(undefined)
  }
  return (
    <div class="banner">
      <Notice kind="plain" icon="edit">
        {t('draftThere')} <Ago atMs={draft.atMs} />{' '}
        <a class="button small" href={href}>
          {t('continueDraft')}
        </a>{' '}
        <button type="button" class="button quiet small" onClick={discard}>
          {t('discardDraft')}
        </button>
      </Notice>
    </div>
  )
}
