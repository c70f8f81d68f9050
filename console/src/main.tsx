import { render } from 'preact'
import { App } from './frame/app.tsx'
import { markHidden } from './controls/seen.tsx'
import { listenToKeys } from './frame/shortcuts.ts'
import { showKeptTheme } from './frame/theme.ts'
import { keepScroll } from './routing/scroll.ts'
import { firstLanguage, showLanguage } from './language/text.ts'
import { keepOneUser, tellOtherUser } from './sign-in/one-user.ts'
import { findUser } from './state/user.ts'

markHidden()
showKeptTheme()
keepScroll()
listenToKeys()
keepOneUser()
void findUser()
// A language that cannot be loaded leaves English.
void showLanguage(firstLanguage())
  .catch(() => undefined)
  .then(() => {
    render(<App />, document.getElementById('app')!)
    tellOtherUser()
  })
