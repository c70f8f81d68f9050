import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { ProtectionDialog } from '../controls/protection.tsx'
import { connection, follow, startLive } from '../live/live.ts'
import { seenText } from '../controls/seen.tsx'
import { Toasts, tellProblem } from '../controls/toast.tsx'
import { language, t } from '../language/text.ts'
import { place, type ViewLocation } from '../state/location.ts'
import { scrollView } from '../routing/scroll.ts'
import { SignInAgain, SignInPage } from '../sign-in/sign-in.tsx'
import {
  currentNamespace,
  isProtected,
  namespaceColour,
  namespaceName,
  namespaces,
  refreshNamespaces,
} from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { checkUser, findUser, isAdministrator, isOpen, standing } from '../state/user.ts'
import { focusOn } from './focus.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { loadAdministration } from './later-view.tsx'
import { LeaveDialog } from '../controls/leave-dialog.tsx'
import { Side } from './side.tsx'
import { TopBar } from './top-bar.tsx'
import { viewOf } from './views.tsx'

/** The whole page: the sign-in, or the frame with a view. */
export function App() {
  useStore(language)
  const who = useStore(standing)
  switch (who.kind) {
    case 'unknown':
      return <p class="loading">{t('loading')}</p>
    case 'unreachable':
      return (
        <div class="alone">
          <ProblemNotice problem={who.problem} onRetry={() => void findUser()} />
        </div>
      )
    case 'signed-out':
      return <SignInPage />
    case 'signed-in':
      return (
        <>
          <Live isExpired={who.isExpired} />
          <Frame username={who.user.username} />
          {who.isExpired && <SignInAgain username={who.user.username} />}
        </>
      )
  }
}

/** Keeps the page connected while somebody is signed in, and up to date what every view has. */
function Live({ isExpired }: { isExpired: boolean }) {
  const state = useStore(connection)
  useEffect(() => {
    if (!isExpired) startLive()
  }, [isExpired])
  useEffect(() => {
    if (state === 'ended' && !isExpired) void checkUser().catch(tellProblem)
    // The session may be another user's by now: then the stream is refused.
    if (state === 'waiting' && !isExpired) void quietly(checkUser)()
  }, [state, isExpired])
  useEffect(() => follow(({ kind }) => kind === 'rights', quietly(checkUser)), [])
  useEffect(
    () => follow(({ kind }) => kind === 'namespace' || kind === 'rights', quietly(refreshNamespaces)),
    [],
  )
  return null
}

/** Data that cannot be read now is read again when it changes. */
const quietly = (read: () => Promise<void>) => () => read().catch(() => undefined)

function Frame({ username }: { username: string }) {
  const at = useStore(place)
  useStore(namespaces)
  const [isSideOpen, setSideOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const view = viewOf(at.path)
  const namespaceId = currentNamespace()
  const isNamespaceKnown = useNamespaces(username) || at.params['ns'] !== undefined
  useArrival(main, at, () => setSideOpen(false))
  useAdministration(username)
  useEffect(() => {
    const where = view.hasNamespace ? namespaceName(namespaceId) : ''
    const parts = [thingAt(at), t(view.title), where, 'Waypost']
    document.title = seenText(parts.filter((part) => part !== '').join(' · '))
  })
  const skip = (event: Event): void => {
    event.preventDefault()
    main.current?.focus()
  }
  return (
    <div class={view.hasNamespace ? `frame ${coloursOf(namespaceId)}` : 'frame colour-none'}>
      <a class="button primary skip" href="#main" onClick={skip}>
        {t('skip')}
      </a>
      <Side current={view.below} isOpen={isSideOpen} />
      {isSideOpen && (
        <button type="button" class="veil" aria-label={t('close')} onClick={() => setSideOpen(false)} />
      )}
      <TopBar
        hasNamespace={view.hasNamespace}
        username={username}
        onMenu={() => setSideOpen(!isSideOpen)}
        isMenuOpen={isSideOpen}
      />
      <main ref={main} class="main" id="main" tabIndex={-1}>
        {isOpen() && <OpenBanner />}
        {/* A view of another place has a state of its own. */}
        {view.hasNamespace && !isNamespaceKnown ? (
          <p class="loading">{t('loading')}</p>
        ) : (
          <view.Content key={`${at.path} ${namespaceId}`} />
        )}
      </main>
      <KeysDialog />
      <LeaveDialog />
      <ProtectionDialog />
      <Toasts />
    </div>
  )
}

const coloursOf = (namespaceId: string): string =>
  `${namespaceColour(namespaceId)} ${isProtected(namespaceId) ? 'guarded' : ''}`

/** The item or service that a place is about; empty for others. */
const thingAt = ({ path, params }: ViewLocation): string =>
  path === 'config'
    ? (params['dataId'] ?? '')
    : path === 'service' || path === 'user'
      ? (params['name'] ?? '')
      : ''

/**
 * Scrolls a view that is shown now to where it was. The focus goes to its heading, so that a screen reader says where one is.
 */
function useArrival(main: RefObject<HTMLElement | null>, at: ViewLocation, onOther: () => void): void {
  const { group = '', edit = '' } = at.params
  const thing = thingAt(at)
  // A list has a group among its filters.
  const key = JSON.stringify([at.path, ...(thing === '' ? [] : [group, thing])])
  const before = useRef({ key, edit })
  useEffect(() => {
    const { current } = before
    before.current = { key, edit }
    scrollView(current.key !== key)
    if (current.key !== key) onOther()
    const hasEnded = current.edit !== '' && edit === ''
    if (current.key !== key || hasEnded) focusOn(main.current)
  }, [at])
}

/**
 * Reads the namespaces that this user may see. False until then: an address without a namespace means the first namespace. Where
 * they cannot be read, the view shows the error.
 */
function useNamespaces(username: string): boolean {
  const [isRead, setRead] = useState(false)
  useEffect(() => {
    setRead(false)
    void refreshNamespaces()
      .catch(tellProblem)
      .finally(() => setRead(true))
  }, [username])
  return isRead
}

/** Brings the views of administrators in good time; what fails now is tried again when one is opened. */
function useAdministration(username: string): void {
  useEffect(() => {
    if (isAdministrator()) void loadAdministration().catch(() => undefined)
  }, [username])
}

function OpenBanner() {
  return (
    <div class="banner">
      <Notice kind="warn">
        {t('openServer')} <span class="soft">{t('openServerHow')}</span>
      </Notice>
    </div>
  )
}
