import type { TextKey } from '../language/en.ts'
import { linkTo, type ViewPath } from '../routing/link.ts'
import { keep, readKept } from '../state/kept.ts'
import { Store } from '../state/store.ts'
import { isAdministrator } from '../state/user.ts'

/** Whether keys without Ctrl do something. Speech recognition may press them by mistake (WCAG 2.1.4). */
export const hasLetterKeys = new Store(readKept('letter-keys') !== 'off')

/** Switches the keys without Ctrl on or off, also for the next visit. */
export function setLetterKeys(isOn: boolean): void {
  keep('letter-keys', isOn ? 'on' : 'off')
  hasLetterKeys.set(isOn)
}

/** Whether the list of keys is shown. */
export const areKeysShown = new Store(false)

/** The views that `g` and a letter go to. */
const GOES: readonly (readonly [string, ViewPath, TextKey])[] = [
  ['o', 'home', 'home'],
  ['c', 'configs', 'configs'],
  ['m', 'compare', 'compare'],
  ['d', 'bin', 'bin'],
  ['r', 'gray', 'gray'],
  ['l', 'listened', 'listened'],
  ['s', 'services', 'services'],
  ['n', 'namespaces', 'namespaces'],
  ['u', 'users', 'users'],
  ['a', 'audit', 'audit'],
  ['v', 'servers', 'servers'],
]

/** The views that only administrators see. */
const FOR_ADMINISTRATORS: ReadonlySet<ViewPath> = new Set(['users', 'audit', 'servers'])

/** The entries of {@link GOES} that this user sees. */
export const ownGoes = (): typeof GOES =>
  GOES.filter(([, path]) => isAdministrator() || !FOR_ADMINISTRATORS.has(path))

/** How long `g` waits for its letter. */
const WAIT_MS = 1_500

let waitsUntilMs = 0

/** Whether somebody types in this. The editor is in a shadow root: the first of the path is where the key was pressed. */
export function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox' && target.type !== 'radio'
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Does what the keys mean. Elements name their keys by `data-key`: `e`, or `Control+Enter`. */
export function listenToKeys(): void {
  // In front of the editor, which has a meaning of its own for Ctrl+Enter.
  addEventListener('keydown', press, { capture: true })
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null

function press(event: KeyboardEvent): void {
  if (event.isComposing || event.altKey) return
  if (event.ctrlKey || event.metaKey) {
    const opensReview = event.key === 's' && !isDialogOpen()
    if (event.key === 'Enter' || opensReview) {
      if (click('Control+Enter')) stop(event)
    }
    return
  }
  const isFree = hasLetterKeys.value && !isTyping(event) && !isDialogOpen()
  if (isFree && letter(event.key)) stop(event)
}

function letter(key: string): boolean {
  if (performance.now() < waitsUntilMs) {
    waitsUntilMs = 0
    const [, path] = ownGoes().find(([one]) => one === key) ?? []
    if (path !== undefined) location.hash = linkTo(path)
    return path !== undefined
  }
  if (key === 'g') waitsUntilMs = performance.now() + WAIT_MS
  else if (key === '?') areKeysShown.set(true)
  else return click(key)
  return true
}

/** Clicks the button of a key: in the dialog on top, else in the view. */
function click(key: string): boolean {
  const dialogs = document.querySelectorAll('dialog[open]')
  const place = dialogs[dialogs.length - 1] ?? document.querySelector('main')
  const button = place?.querySelector<HTMLElement>(`[data-key="${key}"]:not(:disabled)`)
  button?.click()
  return button !== undefined && button !== null
}

function stop(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}
