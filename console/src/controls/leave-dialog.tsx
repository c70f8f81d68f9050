import { useLayoutEffect } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { DialogButtons } from './field.tsx'
import { t } from '../language/text.ts'
import { askBeforeLeaving, type LeaveQuestion } from '../state/location.ts'
import { Store, useStore } from '../state/store.ts'

/** An edit that may be lost. */
export interface Guarded {
  /** Whether this browser keeps it as a draft. */
  readonly isKept: () => boolean
  /** Keeps it now. */
  readonly keep: () => void
  /** Throws the draft away. */
  readonly drop: () => void
}

interface Question {
  readonly reason: Parameters<LeaveQuestion>[0]
  readonly guarded: Guarded
  readonly answer: (leaves: boolean) => void
}

const asked = new Store<Question | undefined>(undefined)

/** Asks before a view with an edit is left. Call it with undefined when the edit is gone. */
export function guardEdit(guarded: Guarded | undefined): void {
  askBeforeLeaving(
    guarded === undefined
      ? undefined
      : (reason) => new Promise((answer) => asked.set({ guarded, reason, answer })),
  )
}

/** Guards an edit as long as the view has one. */
export function useGuard(guarded: Guarded | undefined): void {
  const has = guarded !== undefined
  // Before the page is painted: whoever sees the edit cannot leave it without the question.
  useLayoutEffect(() => {
    guardEdit(guarded)
    return () => guardEdit(undefined)
  }, [has])
}

/** The question of {@link guardEdit}. */
export function LeaveDialog() {
  const question = useStore(asked)
  if (question === undefined) return null
  const { guarded, reason, answer } = question
  // A sign-out removes all drafts.
  const isKept = reason === 'other-view' && guarded.isKept()
  const end = (leaves: boolean): void => {
    asked.set(undefined)
    answer(leaves)
  }
  const keep = (): void => {
    guarded.keep()
    end(true)
  }
  const discard = (): void => {
    guarded.drop()
    end(true)
  }
  return (
    <Dialog
      title={t('leaveTitle')}
      onClose={() => end(false)}
      onSubmit={discard}
      footer={
        <>
          {isKept && (
            <button type="button" class="button start" onClick={keep}>
              {t('keepDraft')}
            </button>
          )}
          <DialogButtons done={t('discard')} onCancel={() => end(false)} isDanger />
        </>
      }
    >
      <p>{t('leaveText')}</p>
      {reason === 'other-view' && <p class="soft">{t(isKept ? 'leaveKept' : 'leaveNotKept')}</p>}
    </Dialog>
  )
}
