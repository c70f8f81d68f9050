import { keep, readKept } from '../state/kept.ts'
import { Store } from '../state/store.ts'

/** The colours of the page: those of the system, or chosen ones. */
export type Theme = 'system' | 'light' | 'dark'

/** The chosen theme. */
export const theme = new Store<Theme>('system')

/** Shows the theme that was chosen the last time. */
export function showKeptTheme(): void {
  const kept = readKept('theme')
  show(kept === 'light' || kept === 'dark' ? kept : 'system')
}

/** Shows a theme from now on. */
export function chooseTheme(chosen: Theme): void {
  keep('theme', chosen)
  show(chosen)
}

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
  theme.set(chosen)
}
