import { useState } from 'preact/hooks'
import { shownNumber, t } from '../language/text.ts'
import { Icon } from './icon.tsx'

/** How many rows a page may have. */
const PAGE_SIZES = [20, 50, 100, 200] as const

/** Where a list is, and the ways to its other pages. */
export function Pager(props: {
  readonly pageNo: number
  readonly pageSize: number
  readonly total: number
  /** How many rows the longest list on these pages has; absent: there is one list. */
  readonly longest?: number
  readonly onGo: (pageNo: number) => void
  /** Changes how many rows a page has; absent where that is fixed. */
  readonly onSize?: (pageSize: number) => void
}) {
  const { pageNo, pageSize, total, longest = total, onGo, onSize } = props
  const last = Math.max(1, Math.ceil(longest / pageSize))
  return (
    <nav class="pager" aria-label={t('pages')}>
      <span class="soft" role="status">
        {t('inAll', { count: shownNumber(total) })}
      </span>
      {onSize !== undefined && total > PAGE_SIZES[0] && <SizeChoice pageSize={pageSize} onSize={onSize} />}
      {last > 1 && (
        <>
          <button type="button" class="button small" disabled={pageNo <= 1} onClick={() => onGo(pageNo - 1)}>
            <Icon name="left" />
            {t('before')}
          </button>
          <Jump key={pageNo} {...{ pageNo, last, onGo }} />
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

function SizeChoice({ pageSize, onSize }: { pageSize: number; onSize: (pageSize: number) => void }) {
  return (
    <span class="page-size soft">
      <span aria-hidden="true">{t('onPage')}</span>
      <select
        class="input"
        aria-label={t('onPage')}
        value={String(pageSize)}
        onChange={(event) => onSize(Number(event.currentTarget.value))}
      >
        {PAGE_SIZES.map((size) => (
          <option key={size} value={String(size)} selected={size === pageSize}>
            {size}
          </option>
        ))}
      </select>
    </span>
  )
}

/** The number of the page: another one goes there. */
function Jump(props: {
  readonly pageNo: number
  readonly last: number
  readonly onGo: (pageNo: number) => void
}) {
  const { pageNo, last, onGo } = props
  const [typed, setTyped] = useState(String(pageNo))
  const jump = (event: Event): void => {
    event.preventDefault()
    const wanted = Math.min(last, Math.max(1, Math.trunc(Number(typed)) || pageNo))
    setTyped(String(wanted))
    if (wanted !== pageNo) onGo(wanted)
  }
  return (
    <form class="jump" onSubmit={jump}>
      <input
        class="input"
        inputmode="numeric"
        size={String(last).length + 1}
        aria-label={t('goToPage')}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={jump}
      />
      <span class="soft">{t('ofPages', { last: shownNumber(last) })}</span>
    </form>
  )
}
