import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** A button that opens a small panel below it. A click elsewhere, Escape, or a choice closes it. */
export function PopoverButton(props: {
  readonly label: string
  readonly className: string
  readonly button: ComponentChildren
  readonly isRight?: boolean
  readonly panel: (close: () => void) => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return undefined
    const outside = (event: Event): void => {
      if (!place.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    document.addEventListener('focusin', outside)
    return () => {
      document.removeEventListener('pointerdown', outside)
      document.removeEventListener('focusin', outside)
    }
  }, [isOpen])
  const close = (): void => {
    setOpen(false)
    opener.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !isOpen) return
    event.stopPropagation()
    close()
  }
  return (
    <div class="popover-place" ref={place} onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        class={props.className}
        aria-label={props.label}
        title={props.label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {props.button}
      </button>
      {isOpen && <div class={props.isRight ? 'popover right' : 'popover'}>{props.panel(close)}</div>}
    </div>
  )
}
