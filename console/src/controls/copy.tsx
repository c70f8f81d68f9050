import { t } from '../language/text.ts'
import { Icon } from './icon.tsx'
import { tell } from './toast.tsx'

/** Copies a text. Pages of plain http have no clipboard, so a field is selected and copied there. */
export function CopyButton(props: {
  readonly text: string
  readonly label: string
  /** Whether the button says what it copies. */
  readonly isWithText?: boolean
}) {
  const { text, label, isWithText = false } = props
  const copy = async (): Promise<void> => {
    if (isSecureContext) await navigator.clipboard.writeText(text)
    else copyBySelection(text)
    tell(t('copied'))
  }
  return (
    <button
      type="button"
      class={isWithText ? 'button' : 'button quiet small icon'}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name="copy" />
      {isWithText && label}
    </button>
  )
}

function copyBySelection(text: string): void {
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  // There is nothing else on plain http.
  // oxlint-disable-next-line typescript/no-deprecated
  document.execCommand('copy')
  field.remove()
}
