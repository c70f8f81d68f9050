import { useEffect, useRef } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Notice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import { type Draft, dropDraft, keepDraft } from './drafts.ts'

/** How long typing rests before a draft is kept. */
const WAIT_MS = 400

/** Keeps an edit as a draft while somebody types; undefined: there is nothing to keep. */
export function useKeptDraft(place: ConfigName, draft: Omit<Draft, 'atMs'> | undefined): void {
  const text = draft === undefined ? '' : JSON.stringify([draft.name, draft.edit])
  const latest = useRef(draft)
  latest.current = draft
  const first = useRef(text)
  useEffect(() => {
    if (text === first.current) return undefined
    // It is as it was published.
    if (text === '') {
      dropDraft(place)
      return undefined
    }
    const timer = setTimeout(() => {
      if (latest.current !== undefined) keepDraft(place, { ...latest.current, atMs: Date.now() })
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [text])
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
