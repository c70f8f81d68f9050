import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons } from '../controls/field.tsx'
import { t } from '../language/text.ts'
import { askBeforeLeaving } from '../routing/location.ts'
import { Store, useStore } from '../state/store.ts'

const asked = new Store<((leaves: boolean) => void) | undefined>(undefined)

/** Asks before a view with an edit is left. Call it with false when the edit is gone. */
export function guardEdit(hasEdit: boolean): void {
  askBeforeLeaving(hasEdit ? () => new Promise((resolve) => asked.set(resolve)) : undefined)
}

/** The question of {@link guardEdit}. */
export function LeaveDialog() {
  const answer = useStore(asked)
  if (answer === undefined) return null
  const end = (leaves: boolean): void => {
    asked.set(undefined)
    answer(leaves)
  }
  return (
    <Dialog
      title={t('leaveTitle')}
      onClose={() => end(false)}
      onSubmit={() => end(true)}
      footer={<DialogButtons done={t('discard')} onCancel={() => end(false)} isDanger />}
    >
      <p>{t('leaveText')}</p>
    </Dialog>
  )
}
