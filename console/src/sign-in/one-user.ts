import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { loadAgain } from '../state/location.ts'
import { onOtherUser } from '../server/request.ts'
import { findUser, forgetUser, onUserOfPage, standing, username } from '../state/user.ts'

/** The key of the mark that a page keeps over its reload, to say why. */
const REASON = 'waypost-other-user'

/**
 * All pages of a browser have one cookie, so they have one user. They tell each other who has signed in or out, and a page that
 * shows another user loads itself again.
 */
export function keepOneUser(): void {
  const pages = new BroadcastChannel('waypost-user')
  onUserOfPage((name) => pages.postMessage(name))
  onOtherUser(becomeOther)
  pages.onmessage = ({ data: name }: MessageEvent<string>) => {
    const { value } = standing
    if (value.kind !== 'signed-in') return
    if (name === username()) return void (value.isExpired && findUser())
    if (name === '') forgetUser()
    else becomeOther()
  }
}

/** Says once, after the page was loaded again, why. */
export function tellOtherUser(): void {
  if (sessionStorage.getItem(REASON) === null) return
  sessionStorage.removeItem(REASON)
  tell(t('otherUserHere'))
}

function becomeOther(): void {
  sessionStorage.setItem(REASON, 'yes')
  loadAgain()
}
