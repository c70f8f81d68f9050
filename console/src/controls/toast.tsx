import { useEffect, useRef } from 'preact/hooks'
import { t } from '../language/text.ts'
import { problemOf } from '../server/problem.ts'
import { Store, useStore } from '../state/store.ts'
import { Icon } from './icon.tsx'
import { problemText, problemTitle } from './notice.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly undo: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = 5_000
/** A message with an undo button stays long enough to be read and reached. */
const SHOWN_WITH_UNDO_MS = 12_000
const toasts = new Store<readonly Toast[]>([])
let lastId = 0

/** Says for a moment what has been done. */
export function tell(text: string, isBad = false): void {
  add({ text, isBad, undo: undefined })
}

/** Says what has been done, with a button that takes it back. */
export function tellUndoable(text: string, undo: () => Promise<unknown>): void {
  add({ text, isBad: false, undo })
}

function add(said: Omit<Toast, 'id'>): void {
  const toast = { id: ++lastId, ...said }
  toasts.set([...toasts.value, toast].slice(-3))
  setTimeout(() => remove(toast.id), said.undo === undefined ? SHOWN_MS : SHOWN_WITH_UNDO_MS)
}

const remove = (gone: number): void => toasts.set(toasts.value.filter(({ id }) => id !== gone))

async function takeBack({ id, undo }: Toast): Promise<void> {
  remove(id)
  await undo?.()
  tell(t('undone'))
}

/** Says what went wrong. */
export function tellProblem(error: unknown): void {
  const problem = problemOf(error)
  tell(`${problemTitle(problem)} ${problemText(problem)}`, true)
}

/** The place of these texts: a popover, so that dialogs do not cover it. */
export function Toasts() {
  const shown = useStore(toasts)
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    element.current?.hidePopover()
    if (shown.length > 0) element.current?.showPopover()
  }, [shown])
  return (
    <div ref={element} class="toasts" popover="manual" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} class={toast.isBad ? 'toast bad' : 'toast'}>
          <Icon name={toast.isBad ? 'warn' : 'good'} />
          <span>{toast.text}</span>
          {toast.undo !== undefined && (
            <button
              type="button"
              class="button small"
              onClick={() => void takeBack(toast).catch(tellProblem)}
            >
              {t('undo')}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
