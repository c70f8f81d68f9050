import { Ago } from '../controls/ago.tsx'
import { phraseText, shownDuration, shownTime, t } from '../language/text.ts'
import type { Instance } from '../server/services.ts'
import { now } from '../state/now.ts'
import { useStore } from '../state/store.ts'
import { Overrides } from './overrides.tsx'

/** The state of an instance with its reason. `readAtMs`: when it was read, by the clock of this page. */
export function InstanceState({ instance, readAtMs }: { instance: Instance; readAtMs: number }) {
  const { healthy, enabled } = instance
  const elapsedMs = Math.max(0, useStore(now) - readAtMs)
  return (
    <>
      <span class="tags">
        <span class={healthy ? 'badge good' : 'badge bad'}>{healthy ? t('healthy') : t('unhealthy')}</span>
        {!enabled && <span class="badge warn">{t('disabled')}</span>}
      </span>
      <div class="soft reason">{reasonOf(instance, elapsedMs)}</div>
      {!enabled && <div class="soft reason">{t('reasonDisabled')}</div>}
      {instance.disabled !== null && <Disabling {...instance.disabled} />}
      <Overrides overrides={instance.overrides} />
    </>
  )
}

/** The user who has disabled an instance, and when. */
function Disabling({ atMs, user, fromIp, cause }: NonNullable<Instance['disabled']>) {
  const who = user ?? fromIp
  return (
    <div class="soft reason" dir="auto">
      <Ago atMs={atMs} /> · {t(`cause.${cause}`)} {who !== null && `(${who})`}
    </div>
  )
}

/** The cause of the health of an instance, in words; `elapsedMs` is the time since the list was read. */
function reasonOf(
  { health, lastBeatAgoMs, expiresInMs, healthy, claims }: Instance,
  elapsedMs: number,
): string {
  const parts: string[] = []
  if (lastBeatAgoMs !== null) parts.push(t('lastBeat', { time: shownDuration(lastBeatAgoMs + elapsedMs) }))
  switch (health.reason) {
    case 'beat':
    case 'beat-timeout':
      if (!healthy && expiresInMs !== null)
        parts.push(t('removedIn', { time: shownDuration(Math.max(0, expiresInMs - elapsedMs)) }))
      break
    case 'probe':
      if (health.check === null) parts.push(t('probedElsewhere'))
      else {
        const { type, text, elapsedMs } = health.check
        parts.push(t('probeSays', { type, text: phraseText(text), time: elapsedMs }))
      }
      break
    case 'operator':
      parts.push(t('reasonOperator'))
      break
    case 'connection':
      parts.push(connectionText(health.connection))
      break
    case 'never':
      parts.push(t('reasonNever'))
      break
  }
  if (claims > 0) parts.push(t('claimed', { count: claims }))
  return parts.join(' · ')
}

/** Where the connection of an instance is, in words. */
function connectionText(connection: Instance['health']['connection']): string {
  switch (connection?.where) {
    case 'elsewhere':
      return t('connectedElsewhere', { server: connection.server ?? '' })
    case 'gone':
      return t('serverGone', { time: shownDuration(connection.removedInMs ?? 0) })
    case 'here': {
      const { connectedMs, library, silentMs, removedInMs } = connection
      if (silentMs !== null && removedInMs !== null)
        return t('silentFor', { time: shownDuration(silentMs), left: shownDuration(removedInMs) })
      if (connectedMs === null) return t('reasonConnection')
      return t('connectedSince', { time: shownTime(connectedMs), library: library ?? '' })
    }
    case undefined:
      return t('reasonConnection')
  }
}
