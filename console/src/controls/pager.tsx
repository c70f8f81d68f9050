import { shownNumber, t } from '../language/text.ts'
import { Icon } from './icon.tsx'

/** Where a list is, and the ways to its other pages. */
export function Pager(props: {
  readonly pageNo: number
  readonly pageSize: number
  readonly total: number
  readonly onGo: (pageNo: number) => void
}) {
  const { pageNo, pageSize, total, onGo } = props
  const last = Math.max(1, Math.ceil(total / pageSize))
  return (
    <nav class="pager" aria-label={t('pages')}>
      <span class="soft" role="status">
        {t('inAll', { count: shownNumber(total) })}
      </span>
      {last > 1 && (
        <>
          <button type="button" class="button small" disabled={pageNo <= 1} onClick={() => onGo(pageNo - 1)}>
            <Icon name="left" />
            {t('before')}
          </button>
          <span>{t('pageOf', { page: shownNumber(pageNo), last: shownNumber(last) })}</span>
          <button
            type="button"
            class="button small"
            disabled={pageNo >= last}
            onClick={() => onGo(pageNo + 1)}
          >
            {t('next')}
            <Icon name="right" />
          </button>
        </>
      )}
    </nav>
  )
}
