import { useRef, useState } from 'preact/hooks'
import { useGuard } from '../controls/leave-dialog.tsx'
import type { ConfigNotes } from '../server/configs.ts'
import { useKeptDraft } from '../publishing/draft-notice.tsx'
import { type Draft, dropDraft, editOf, mayKeep, newItemIn, readDraft } from '../publishing/drafts.ts'
import { notesOf } from './notes-fields.tsx'

const EMPTY: ConfigNotes = { type: 'yaml', desc: '', appName: '', configTags: '' }

/** The typed fields of a new item. `merges`: how often the text came from elsewhere than the editor. */
interface NewItem {
  readonly draft: Draft | undefined
  readonly dataId: string
  readonly group: string
  readonly notes: ConfigNotes
  readonly base: Draft['base']
  readonly text: string
  readonly merges: number
}

function newItem(draft: Draft | undefined): NewItem {
  return {
    draft,
    dataId: draft?.name.dataId ?? '',
    group: draft?.name.group ?? 'DEFAULT_GROUP',
    notes: notesOf(draft?.edit ?? EMPTY),
    base: draft?.base ?? { ...EMPTY, content: '', md5: '' },
    text: draft?.edit.content ?? '',
    merges: 0,
  }
}

/** A new item while it is typed: it begins with the draft of its namespace, and is kept as one. */
export function useNewItem(tenant: string) {
  const place = newItemIn(tenant)
  const [item, setItem] = useState(() => newItem(readDraft(place, Date.now())))
  const { dataId, group, notes, base, text, merges } = item
  const edit = editOf(text, notes)
  const latest = useRef({ edit, base })
  latest.current = { edit, base }
  const hasEdit = dataId !== '' || text !== ''
  const drop = (): void => dropDraft(place)
  const isKept = (): boolean => mayKeep(latest.current.edit, latest.current.base)
  const keep = useKeptDraft(place, hasEdit ? { name: { tenant, group, dataId }, edit, base } : undefined)
  useGuard(hasEdit ? { isKept, keep, drop } : undefined)
  return {
    ...item,
    edit,
    set: (changed: Partial<NewItem>) => setItem((now) => ({ ...now, ...changed })),
    drop,
    beginAgain: () => {
      drop()
      setItem({ ...newItem(undefined), merges: merges + 1 })
    },
  }
}
