import { Icon } from '../controls/icon.tsx'
import { Nothing, ProblemNotice } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import { readWatchers, type ConfigName } from '../server/configs.ts'
import { useLoaded } from '../state/loaded.ts'

/** Who waits for changes of an item now, and who of them has the current version. */
export function Watchers({ name, md5 }: { name: ConfigName; md5: string | undefined }) {
  const watchers = useLoaded(JSON.stringify(name), () => readWatchers(name))
  const found = Object.entries(watchers.value ?? {})
  const current = found.filter(([, known]) => known === md5).length
  return (
    <>
      <div class="head">
        <p class="title soft">
          {found.length > 0 &&
            t('haveIt', { current: shownNumber(current), count: shownNumber(found.length) })}
        </p>
        <button type="button" class="button" onClick={watchers.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <ProblemNotice problem={watchers.problem} onRetry={watchers.reload} />
      {watchers.value !== undefined && (
        <div class="card table-card">
          {found.length === 0 ? (
            <Nothing text={t('noWatchers')} />
          ) : (
            <table>
              <thead>
                <tr>
                  <th>IP</th>
                  <th>{t('state')}</th>
                  <th>MD5</th>
                </tr>
              </thead>
              <tbody>
                {found.map(([ip, known]) => (
                  <tr key={ip}>
                    <td>{ip}</td>
                    <td>
                      {known === md5 ? (
                        <span class="badge good">{t('upToDate')}</span>
                      ) : (
                        <span class="badge warn">{t('behind')}</span>
                      )}
                    </td>
                    <td>
                      <code>{known}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      )}
    </>
  )
}
