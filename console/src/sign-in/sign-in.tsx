import { useEffect, useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { dropOwnDrafts } from '../publishing/drafts.ts'
import { Dialog } from '../controls/dialog.tsx'
import { later } from '../controls/later.tsx'
import { TextField } from '../controls/field.tsx'
import { Coded } from '../controls/coded.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { Brand } from '../controls/brand.tsx'
import { chooseLanguage, language, t } from '../language/text.ts'
import { lacksAdministrator, signIn } from '../server/session.ts'
import { go, maySignOut, place } from '../state/location.ts'
import { useStore } from '../state/store.ts'
import { forgetUser, setUser } from '../state/user.ts'

const FirstAdministrator = later(async () => (await import('./first-administrator.tsx')).FirstAdministrator)

/** Whether somebody has followed the address that the server prints when it starts without an administrator. */
const isAtFirst = (): boolean => place.value.path === 'first-administrator'

/** The page for signing in. */
export function SignInPage() {
  const { params } = useStore(place)
  const [makesFirst, setMakesFirst] = useState(isAtFirst())
  const [username, setUsername] = useState('')
  const other = language.value === 'en' ? 'zh-CN' : 'en'
  // The printed address may be opened where the sign-in is shown already.
  const { code } = params
  useEffect(() => {
    if (isAtFirst()) setMakesFirst(true)
  }, [code])
  return (
    <main class="alone">
      <div class="sign-in">
        <Brand />
        {makesFirst ? (
          <FirstAdministrator
            key={code}
            onDone={(made) => {
              setUsername(made)
              if (isAtFirst()) go({ path: '', params: {} }, { replace: true })
              setMakesFirst(false)
            }}
          />
        ) : (
          <SignInForm username={username} onUsername={setUsername} />
        )}
        <div class="more">
          <button type="button" class="link" onClick={() => setMakesFirst(!makesFirst)}>
            {makesFirst ? t('backToSignIn') : t('firstAdministrator')}
          </button>
          <button type="button" class="link" lang={other} onClick={() => void chooseLanguage(other)}>
            {other === 'en' ? 'English' : '简体中文'}
          </button>
        </div>
      </div>
    </main>
  )
}

function SignInForm(props: { readonly username: string; readonly onUsername: (name: string) => void }) {
  const { username, onUsername } = props
  const [password, setPassword] = useState('')
  const { isBusy, problem, run } = useDoing(async () => setUser(await signIn(username, password)))
  const submit = (event: Event): void => {
    event.preventDefault()
    void run()
  }
  return (
    <>
      <h1>{t('signIn')}</h1>
      <NoAdministrator />
      <form class="form" onSubmit={submit}>
        <SignInFields {...{ username, onUsername, password, setPassword }} />
        <ProblemNotice problem={problem} />
        <button type="submit" class="button primary" disabled={isBusy || username === '' || password === ''}>
          {t('signIn')}
        </button>
      </form>
    </>
  )
}

/** While nobody can sign in: where the code is, and which command makes an administrator. */
function NoAdministrator() {
  const [isLacking, setLacking] = useState(false)
  useEffect(() => void lacksAdministrator().then(setLacking, () => undefined), [])
  if (!isLacking) return null
  return (
    <Notice kind="warn">
      <Coded text={t('noAdministrator')} />
    </Notice>
  )
}

function SignInFields(props: {
  readonly username: string
  readonly onUsername?: (name: string) => void
  readonly password: string
  readonly setPassword: (password: string) => void
}) {
  const { username, onUsername, password, setPassword } = props
  return (
    <>
      <TextField
        label={t('username')}
        value={username}
        autoComplete="username"
        isReadOnly={onUsername === undefined}
        hasFocus={onUsername !== undefined}
        onInput={(value) => onUsername?.(value)}
      />
      <TextField
        label={t('password')}
        type="password"
        value={password}
        autoComplete="current-password"
        hasFocus={onUsername === undefined}
        onInput={setPassword}
      />
    </>
  )
}

/** Asks to sign in over the view, which keeps its edits and continues afterwards. */
export function SignInAgain({ username }: { username: string }) {
  const [password, setPassword] = useState('')
  const { isBusy, problem, run } = useDoing(async () => setUser(await signIn(username, password)))
  const leave = async (): Promise<void> => {
    if (!(await maySignOut())) return
    dropOwnDrafts()
    forgetUser()
  }
  return (
    <Dialog
      title={t('signInAgain')}
      onSubmit={() => void run()}
      footer={
        <>
          <button type="button" class="button start" onClick={() => void leave()}>
            {t('otherUser')}
          </button>
          <button type="submit" class="button primary" disabled={isBusy || password === ''}>
            {t('signIn')}
          </button>
        </>
      }
    >
      <p class="soft">{t('sessionEnded')}</p>
      <SignInFields {...{ username, password, setPassword }} />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
