import { t } from '../language/text.ts'
import { connection, connectNow } from '../live/live.ts'
import { useStore } from '../state/store.ts'

/** Whether what is shown is up to date by itself: a quiet dot. Without a connection it says so, and a click tries again. */
export function ConnectionMark() {
  const state = useStore(connection)
  const isLive = state === 'live'
  const isWaiting = state === 'waiting'
  const text = isLive ? t('live') : isWaiting ? t('notConnected') : t('notLive')
  return (
    <>
      <span class="connection" role="status" title={isWaiting ? t('triesAgain') : text}>
        <i class={`dot ${isLive ? 'good' : 'warn'}`} />
        <span class={isLive ? 'hidden' : 'soft not-phone'}>{text}</span>
      </span>
      {isWaiting && (
        <button type="button" class="button quiet small" title={t('triesAgain')} onClick={connectNow}>
          {t('tryNow')}
        </button>
      )}
    </>
  )
}
