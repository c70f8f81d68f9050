import { linkToConfig } from '../routing/key-of.ts'
import { Notice } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import { anyOf } from '../live/meant.ts'
import { linkTo } from '../routing/link.ts'
import { readAllGray } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'
import { now } from '../state/now.ts'
import { useStore } from '../state/store.ts'
import { isLongOut, outVersions } from './out-versions.ts'

const SHOWN_NAMES = 3

/** Reminds of gray versions that have been out for more than a day. */
export function OldGray() {
  const found = useLoaded('gray', readAllGray, anyOf('config'))
  const nowMs = useStore(now)
  const old = outVersions(found.value ?? []).filter(({ version }) => isLongOut(version, nowMs))
  if (old.length === 0) return null
  return (
    <Notice kind="warn">
      <a href={linkTo('gray')}>{t('oldGray', { count: shownNumber(old.length) })}</a>
      <div class="soft">
        {old.slice(0, SHOWN_NAMES).map(({ item, version }) => (
          <span key={version.id}>
            <a dir="auto" href={linkToConfig(item, 'gray')}>
              {item.dataId}
            </a>{' '}
            <span dir="auto">({version.grayName})</span>{' '}
          </span>
        ))}
        {old.length > SHOWN_NAMES && t('andMore', { count: shownNumber(old.length - SHOWN_NAMES) })}
      </div>
    </Notice>
  )
}
