import { t } from '../language/text.ts'
import { connection } from '../live/live.ts'
import { useStore } from '../state/store.ts'

/** Whether what is shown is up to date by itself: a quiet dot. */
export function ConnectionMark() {
  const isLive = useStore(connection) === 'live'
  const text = isLive ? t('live') : t('notLive')
  return (
    <span class="connection" role="status" title={text}>
      <i class={`dot ${isLive ? 'good' : 'warn'}`} />
      <span class={isLive ? 'hidden' : 'soft not-phone'}>{text}</span>
    </span>
  )
}
