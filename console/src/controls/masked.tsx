import { useState } from 'preact/hooks'
import { t } from '../language/text.ts'

/** A value; one that people nearby should not read is covered until it is clicked. */
export function Masked({ text, isSecret }: { text: string; isSecret: boolean }) {
  const [isShown, setShown] = useState(!isSecret)
  if (isShown)
    return (
      <span class="written" dir="auto">
        {text}
      </span>
    )
  return (
    <button
      type="button"
      class="masked"
      aria-label={t('showValue')}
      title={t('showValue')}
      onClick={() => setShown(true)}
    >
      ••••••
    </button>
  )
}
