import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../language/text.ts'
import { Icon } from './icon.tsx'

interface DialogProps {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
  readonly footer?: ComponentChildren
  /** Undefined: it cannot be closed. */
  readonly onClose?: (() => void) | undefined
  /** Called by Enter in a field and by the button of type `submit`. */
  readonly onSubmit?: () => void
  readonly isWide?: boolean
}

/** A modal dialog of the browser: it keeps the keyboard inside, and Escape closes it. */
export function Dialog({ title, children, footer, onClose, onSubmit, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const isGone = useRef(false)
  const show = (): void => {
    const dialog = element.current
    if (dialog !== null && !dialog.open && !isGone.current) dialog.showModal()
  }
  useEffect(() => {
    show()
    return () => {
      isGone.current = true
      element.current?.close()
    }
  }, [])
  /** A browser closes a dialog at the second Escape, whatever the page says at the first. */
  const closed = (): void => {
    if (onClose === undefined) show()
    else if (!isGone.current) onClose()
  }
  const cancel = (event: Event): void => {
    event.preventDefault()
    onClose?.()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    event.stopPropagation()
    onSubmit?.()
  }
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={cancel}
      onClose={closed}
    >
      <form onSubmit={submit} noValidate>
        <div class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          {onClose && (
            <button type="button" class="button quiet small icon" aria-label={t('close')} onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </div>
        <div class="body">{children}</div>
        {footer && <div class="dialog-foot">{footer}</div>}
      </form>
    </dialog>
  )
}
