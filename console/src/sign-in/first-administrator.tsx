import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { makeFirstAdministrator, signIn } from '../server/session.ts'
import { setUser } from '../state/user.ts'

/** Makes the first administrator of a new server, and signs in as that. */
export function FirstAdministrator({ onDone }: { onDone: (username: string) => void }) {
  const [code, setCode] = useState('')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const isDifferent = again !== '' && again !== password
  const { isBusy, problem, run } = useDoing(async () => {
    const { username } = await makeFirstAdministrator(code.trim(), password)
    onDone(username)
    setUser(await signIn(username, password))
  })
  const isReady = code.trim() !== '' && password !== '' && again === password
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
        <TextField
          label={t('newPassword')}
          type="password"
          autoComplete="new-password"
          value={password}
          onInput={setPassword}
        />
        <TextField
          label={t('passwordAgain')}
          type="password"
          autoComplete="new-password"
          value={again}
          wrong={isDifferent ? t('passwordsDiffer') : undefined}
          onInput={setAgain}
        />
        <ProblemNotice problem={problem} />
        <button type="submit" class="button primary" disabled={isBusy || !isReady}>
          {t('makeAdministrator')}
        </button>
      </form>
    </>
  )
}
