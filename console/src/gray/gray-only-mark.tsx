import { t } from '../language/text.ts'

/** Says that an item has gray versions only, and which. */
export function GrayOnlyMark({ names }: { names: readonly string[] }) {
  return (
    <>
      <span class="badge">{t('grayOnlyMark')}</span>{' '}
      <span class="soft" dir="auto">
        {names.join(', ')}
      </span>
    </>
  )
}
