import { Store } from './store.ts'

/** The view of the page with its parameters: the part behind `#` in its address. */
export interface ViewLocation {
  /** Without the slash: `config/edit`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

/** The address of a location. Empty parameters are left out. */
export function addressOf({ path, params }: ViewLocation): string {
  const given = Object.entries(params).filter(([, value]) => value !== '')
  const query = new URLSearchParams(given).toString()
  return `#/${path}${query === '' ? '' : `?${query}`}`
}

/** The location that an address names. */
function placeOf(hash: string): ViewLocation {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  return { path, params: Object.fromEntries(new URLSearchParams(query)) }
}

/** Where the page is now. */
export const place = new Store<ViewLocation>(placeOf(location.hash))

/** The question of a view with an edit before it is left; undefined where there is nothing to lose. */
export type LeaveQuestion = (reason: 'other-view' | 'sign-out') => Promise<boolean>

let question: LeaveQuestion | undefined
let current = location.hash

/** Asks before the view is left, until it is called with undefined. */
export function askBeforeLeaving(asked: LeaveQuestion | undefined): void {
  question = asked
}

/** Whether the user may sign out: asks where there is something to lose. */
export const maySignOut = async (): Promise<boolean> => question === undefined || question('sign-out')

/** The entries of this page in the history, by their numbers. The browser keeps the number of each. */
const trail: string[] = []
let position = numbered(0)
trail[position] = current

/** The number of the present entry. A new entry gets this number; entries after it are gone. */
function numbered(otherwise: number): number {
  const { at } = (history.state ?? {}) as { at?: unknown }
  if (typeof at === 'number') return at
  history.replaceState({ at: otherwise }, '')
  trail.length = otherwise
  return otherwise
}

/** Called before another location is shown. `isNew`: the user has not been there by this entry of the history. */
export type OnMove = (move: { readonly from: number; readonly to: number; readonly isNew: boolean }) => void

let onMove: OnMove = () => undefined

/** Calls before each move, with the numbers of the entries of the history. */
export function beforeMove(listener: OnMove): void {
  onMove = listener
}

/** Goes somewhere. With `replace` the way back skips the place before. */
export function go(to: ViewLocation, { replace = false }: { replace?: boolean } = {}): void {
  const address = addressOf(to)
  if (!replace) {
    location.hash = address
    return
  }
  history.replaceState({ at: position }, '', address)
  current = trail[position] = address
  // As if somebody had opened the address: empty parameters are none.
  place.set(placeOf(address))
}

/** Ends a view that was opened from `to`: the way back from there does not lead to it again. */
export function goBackTo(to: ViewLocation): void {
  if (trail[position - 1] === addressOf(to)) history.back()
  else go(to, { replace: true })
}

addEventListener('hashchange', () => void arrive(location.hash))

async function arrive(hash: string): Promise<void> {
  const to = numbered(position + 1)
  const steps = to - position
  if (hash !== current && question !== undefined && steps !== 0) {
    // The edit stays on the screen, at its own address, while its author is asked.
    history.go(-steps)
    if (!(await question('other-view'))) return
    question = undefined
    history.go(steps)
    return
  }
  if (to !== position) onMove({ from: position, to, isNew: trail[to] === undefined })
  position = to
  trail[position] = hash
  if (hash === current) return
  current = hash
  place.set(placeOf(hash))
}

/** Loads the page again, and asks nobody about an edit: it belongs to a user who is signed in no longer. */
export function loadAgain(): void {
  question = undefined
  location.reload()
}

addEventListener('beforeunload', (event) => {
  if (question !== undefined) event.preventDefault()
})
