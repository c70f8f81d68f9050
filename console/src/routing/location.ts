import { Store } from '../state/store.ts'

/** The place of the page: the part behind `#` in its address. */
export interface Place {
  /** Without the slash: `config/edit`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

/** The address of a place. Empty parameters are left out. */
export function addressOf({ path, params }: Place): string {
  const given = Object.entries(params).filter(([, value]) => value !== '')
  const query = new URLSearchParams(given).toString()
  return `#/${path}${query === '' ? '' : `?${query}`}`
}

/** The place that an address names. */
function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  return { path, params: Object.fromEntries(new URLSearchParams(query)) }
}

/** Where the page is now. */
export const place = new Store<Place>(placeOf(location.hash))

/** What a view with an edit asks before it is left; undefined where there is nothing to lose. */
export type LeaveQuestion = () => Promise<boolean>

let question: LeaveQuestion | undefined
let current = location.hash

/** Asks before the view is left, until it is called with undefined. */
export function askBeforeLeaving(asked: LeaveQuestion | undefined): void {
  question = asked
}

/** Goes somewhere. With `replace` the way back skips the place before. */
export function go(to: Place, { replace = false }: { replace?: boolean } = {}): void {
  const address = addressOf(to)
  if (!replace) {
    location.hash = address
    return
  }
  history.replaceState(null, '', address)
  current = address
  place.set(to)
}

addEventListener('hashchange', () => void arrive(location.hash))

async function arrive(hash: string): Promise<void> {
  if (hash === current) return
  if (question !== undefined && isOtherView(hash)) {
    // The edit stays on the screen while its author is asked.
    history.replaceState(null, '', current === '' ? '#/' : current)
    if (!(await question())) return
    question = undefined
    history.pushState(null, '', hash)
  }
  current = hash
  place.set(placeOf(hash))
}

function isOtherView(hash: string): boolean {
  const [from, to] = [placeOf(current), placeOf(hash)]
  return from.path !== to.path || addressOf(from) !== addressOf(to)
}

addEventListener('beforeunload', (event) => {
  if (question !== undefined) event.preventDefault()
})
