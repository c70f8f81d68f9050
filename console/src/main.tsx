import { render } from 'preact'
import { App } from './frame/app.tsx'
import { showKeptTheme } from './frame/theme.ts'
import { firstLanguage, showLanguage } from './language/text.ts'
import { findUser } from './state/user.ts'

showKeptTheme()
void findUser()
// A language that cannot be loaded leaves English.
void showLanguage(firstLanguage())
  .catch(() => undefined)
  .then(() => render(<App />, document.getElementById('app')!))
