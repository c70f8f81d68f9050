import type { ComponentChildren } from 'preact'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'

/** A dialog that saves what its fields have. */
export function NewEntry(props: {
  readonly title: string
  readonly isReady: boolean
  readonly save: () => Promise<unknown>
  readonly onClose: () => void
  readonly onDone: () => void
  readonly children: ComponentChildren
}) {
  const { title, isReady, save, onClose, onDone, children } = props
  const { isBusy, problem, run } = useDoing(async () => {
    await save()
    tell(t('saved'))
    onClose()
    onDone()
  })
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      {children}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
