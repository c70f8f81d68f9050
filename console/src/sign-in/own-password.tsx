import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { changeOwnPassword, signIn } from '../server/session.ts'
import { setUser } from '../state/user.ts'

/** Changes the own password. That ends every session of the user, so a new one begins. */
export function OwnPassword({ username, onClose }: { username: string; onClose: () => void }) {
  const [oldPassword, setOld] = useState('')
  const [newPassword, setNew] = useState('')
  const [again, setAgain] = useState('')
  const { isBusy, problem, run } = useDoing(async () => {
    await changeOwnPassword({ username, oldPassword, newPassword })
    setUser(await signIn(username, newPassword))
    tell(t('passwordChanged'))
    onClose()
  })
  const isReady = oldPassword !== '' && newPassword !== '' && newPassword === again
  return (
    <Dialog
      title={t('changePassword')}
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      <TextField
        label={t('oldPassword')}
        type="password"
        autoComplete="current-password"
        hasFocus
        value={oldPassword}
        onInput={setOld}
      />
      <TextField
        label={t('newPassword')}
        type="password"
        autoComplete="new-password"
        value={newPassword}
        onInput={setNew}
      />
      <TextField
        label={t('passwordAgain')}
        type="password"
        autoComplete="new-password"
        value={again}
        wrong={again !== '' && again !== newPassword ? t('passwordsDiffer') : undefined}
        onInput={setAgain}
      />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
