import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { changeOwnPassword, signIn } from '../server/session.ts'
import { setUser } from '../state/user.ts'
import { isComplete, NewPasswordFields, NO_PASSWORD } from './new-password-fields.tsx'

/** Changes the own password. That ends every session of the user, so a new one begins. */
export function OwnPassword({ username, onClose }: { username: string; onClose: () => void }) {
  const [oldPassword, setOld] = useState('')
  const [typed, setTyped] = useState(NO_PASSWORD)
  const { password: newPassword } = typed
  const { isBusy, problem, run } = useDoing(async () => {
    await changeOwnPassword({ username, oldPassword, newPassword })
    setUser(await signIn(username, newPassword))
    tell(t('passwordChanged'))
    onClose()
  })
  const isReady = oldPassword !== '' && isComplete(typed)
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
      <NewPasswordFields typed={typed} onInput={setTyped} />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
