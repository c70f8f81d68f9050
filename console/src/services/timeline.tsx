import { Ago } from '../controls/ago.tsx'
import { TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownTime, t } from '../language/text.ts'
import { place } from '../state/location.ts'
import { readTimeline, type ServiceName, type TimelineEntry } from '../server/services.ts'
import { ofService } from '../live/meant.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { hostPort } from '../server/host-port.ts'
import { causeKey } from './cause-key.ts'

/** The events of the instances of a service, newest first, each with its cause. */
export function Timeline({ name }: { name: ServiceName }) {
  const ip = place.value.params['ip'] ?? ''
  const { valueOf, type } = useTypedParams()
  const found = useLoaded(JSON.stringify([name, ip]), () => readTimeline(name, ip), ofService(name))
  const shown = useShown(JSON.stringify(name), found, ip)
  return (
    <>
      <div class="filters" role="search">
        <TextField
          label={t('instanceAddress')}
          type="search"
          value={valueOf('ip')}
          onInput={(value) => type('ip', value)}
        />
        <button type="button" class="button" onClick={found.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <p class="soft">{t('timelineSince', { time: shownTime(shown.value.fromMs) })}</p>
          {shown.value.missingServers.length > 0 && (
            <div class="banner">
              <Notice kind="warn">
                {t('timelineMissing', { names: shown.value.missingServers.join(', ') })}
              </Notice>
            </div>
          )}
          <div class="card table-card" tabIndex={0}>
            {shown.value.entries.length === 0 ? (
              <Nothing text={t('nothingHappened')} />
            ) : (
              <Entries entries={shown.value.entries} />
            )}
          </div>
          {shown.value.truncated && <p class="soft">{t('timelineTruncated')}</p>}
        </>
      )}
    </>
  )
}

const BADGES = {
  registered: 'good',
  healthy: 'good',
  enabled: 'good',
  removed: 'bad',
  unhealthy: 'bad',
  disabled: 'warn',
  weight: 'accent',
  metadata: 'accent',
  'late-beat': 'accent',
  lifted: 'accent',
} as const satisfies Record<TimelineEntry['kind'], string>

function Entries({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>{t('time')}</th>
          <th>{t('address')}</th>
          <th>{t('happened')}</th>
          <th>{t('why')}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, index) => (
          // Several may happen to an instance in a millisecond.
          <tr key={`${entry.atMs} ${entry.ip} ${entry.port} ${entry.clusterName} ${entry.kind} ${index}`}>
            <td>
              {shownTime(entry.atMs)}
              <div class="soft">
                <Ago atMs={entry.atMs} />
              </div>
            </td>
            <td class="name">
              <strong>{hostPort(entry)}</strong>
              <div class="soft" dir="auto">
                {entry.clusterName}
              </div>
            </td>
            <td>
              <span class={`badge ${BADGES[entry.kind]}`}>{t(`happened.${entry.kind}`)}</span>
            </td>
            <td>
              {t(causeKey(entry.kind, entry.cause))}
              {entry.text !== '' && <div dir="auto">{entry.text}</div>}
              {entry.fromIp !== null && (
                <div class="soft" dir="auto">
                  {[entry.user, entry.fromIp].filter(Boolean).join(' · ')}
                </div>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
