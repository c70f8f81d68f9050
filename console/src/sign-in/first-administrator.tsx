import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { place } from '../state/location.ts'
import { makeFirstAdministrator, signIn } from '../server/session.ts'
import { setUser } from '../state/user.ts'
import { isComplete, NewPasswordFields, NO_PASSWORD } from './new-password-fields.tsx'

/** Makes the first administrator of a new server, and signs in as that. */
export function FirstAdministrator({ onDone }: { onDone: (username: string) => void }) {
  const [code, setCode] = useState(place.value.params['code'] ?? '')
  const [typed, setTyped] = useState(NO_PASSWORD)
  const { password } = typed
  const { isBusy, problem, run } = useDoing(async () => {
    const { username } = await makeFirstAdministrator(code.trim(), password)
    onDone(username)
    setUser(await signIn(username, password))
  })
  const isReady = code.trim() !== '' && isComplete(typed)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isReady) void run()
  }
  return (
    <>
      <h1>{t('firstAdministrator')}</h1>
      <p class="soft">{t('firstAdministratorText')}</p>
      <form class="form" onSubmit={submit}>
        <TextField
          label={t('oneTimeCode')}
          hint={t('oneTimeCodeHint')}
          value={code}
          isCode
          hasFocus
          onInput={setCode}
        />
        <NewPasswordFields typed={typed} onInput={setTyped} />
        <ProblemNotice problem={problem} />
        <button type="submit" class="button primary" disabled={isBusy || !isReady}>
          {t('makeAdministrator')}
        </button>
      </form>
    </>
  )
}
