import { TextField } from '../controls/field.tsx'
import { t } from '../language/text.ts'

/** A new password, typed twice. */
export interface NewPassword {
  readonly password: string
  readonly again: string
}

/** No password yet. */
export const NO_PASSWORD: NewPassword = { password: '', again: '' }

/** Whether it was typed twice in the same way. */
export const isComplete = ({ password, again }: NewPassword): boolean => password !== '' && password === again

/** The two fields of a new password. */
export function NewPasswordFields(props: {
  readonly typed: NewPassword
  readonly onInput: (typed: NewPassword) => void
}) {
  const { typed, onInput } = props
  const { password, again } = typed
  return (
    <>
      <TextField
        label={t('newPassword')}
        type="password"
        autoComplete="new-password"
        value={password}
        hint={t('passwordHint')}
        onInput={(value) => onInput({ ...typed, password: value })}
      />
      <TextField
        label={t('passwordAgain')}
        type="password"
        autoComplete="new-password"
        value={again}
        wrong={again !== '' && again !== password ? t('passwordsDiffer') : undefined}
        onInput={(value) => onInput({ ...typed, again: value })}
      />
    </>
  )
}
