import { shownNumber, shownTime, t } from '../language/text.ts'
import type { Watcher, Watchers } from '../server/configs.ts'

/** How many clients of an item have which version, where gray versions of it are out. */
export function Shares({ found: { shares, count } }: { found: Watchers }) {
  const parts = (['gray', 'formal', 'behind', 'away', 'unknown'] as const).filter((has) => shares[has] > 0)
  return (
    <span class="meter shares" role="status">
      <i class="long">
        {parts.map((has) => (
          <b key={has} class={has} style={{ width: `${(100 * shares[has]) / Math.max(1, count)}%` }} />
        ))}
      </i>
      <span>{parts.map((has) => t(`shares.${has}`, { count: shownNumber(shares[has]) })).join(' · ')}</span>
    </span>
  )
}

const KINDS = { gray: 'accent', formal: 'good', behind: 'warn', away: '', unknown: '' } as const

/** The version of one client. */
export function ClientHas({ watcher: { has, grayName, lastSeenMs } }: { watcher: Watcher }) {
  const text = {
    gray: t('hasGray', { name: grayName ?? '' }),
    formal: t('upToDate'),
    behind: t('behind'),
    away: t('notBack', { time: shownTime(lastSeenMs) }),
    unknown: t('cannotTell'),
  }
  return <span class={`badge ${KINDS[has]}`}>{text[has]}</span>
}
