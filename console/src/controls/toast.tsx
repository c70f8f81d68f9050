import { useEffect, useRef } from 'preact/hooks'
import { problemOf } from '../server/problem.ts'
import { Store, useStore } from '../state/store.ts'
import { Icon } from './icon.tsx'
import { problemTitle } from './notice.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

const SHOWN_MS = 5_000
const toasts = new Store<readonly Toast[]>([])
let lastId = 0

/** Says for a moment what has been done. */
export function tell(text: string, isBad = false): void {
  const toast = { id: ++lastId, text, isBad }
  toasts.set([...toasts.value, toast].slice(-3))
  setTimeout(() => toasts.set(toasts.value.filter(({ id }) => id !== toast.id)), SHOWN_MS)
}

/** Says what went wrong. */
export function tellProblem(error: unknown): void {
  const problem = problemOf(error)
  tell(`${problemTitle(problem)} ${problem.detail}`, true)
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
      {shown.map(({ id, text, isBad }) => (
        <div key={id} class={isBad ? 'toast bad' : 'toast'}>
          <Icon name={isBad ? 'warn' : 'good'} />
          <span>{text}</span>
        </div>
      ))}
    </div>
  )
}
