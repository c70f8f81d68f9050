import { MissingServers } from '../configs/watchers.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { t } from '../language/text.ts'
import { ofService } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { readSubscribers, type ServiceName, type Subscriber } from '../server/services.ts'
import { useEvery } from '../state/every.ts'
import { useLoaded, useShown } from '../live/loaded.ts'

const PAGE_SIZE = 100
/** That somebody subscribes is no event. */
const AGAIN_MS = 5_000

/** The clients that follow a service, on all servers, and how. */
export function Subscribers({ name }: { name: ServiceName }) {
  const pageNo = Number(place.value.params['page'] ?? '1') || 1
  const found = useLoaded(
    JSON.stringify([name, pageNo]),
    () => readSubscribers(name, pageNo, PAGE_SIZE),
    ofService(name),
  )
  const shown = useShown(JSON.stringify(name), found, pageNo)
  useEvery(AGAIN_MS, found.refresh)
  return (
    <div class="stack">
      <p class="soft">{t('subscribersText')}</p>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <MissingServers names={shown.value.missingServers} />
          <div class="card table-card" tabIndex={0}>
            {shown.value.count === 0 ? (
              <Nothing text={t('noSubscribers')} />
            ) : (
              <SubscriberTable subscribers={shown.value.subscribers} />
            )}
          </div>
          <Pager
            pageNo={shown.asked}
            pageSize={PAGE_SIZE}
            total={shown.value.count}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
    </div>
  )
}

function SubscriberTable({ subscribers }: { subscribers: readonly Subscriber[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>{t('address')}</th>
          <th>{t('hearsBy')}</th>
          <th>{t('client')}</th>
          <th class="not-phone">{t('application')}</th>
          <th class="not-phone">{t('clusters')}</th>
        </tr>
      </thead>
      <tbody>
        {subscribers.map(({ addrStr, ip, agent, app, cluster, via }) => (
          <tr key={`${addrStr} ${agent} ${cluster} ${via}`}>
            <td>{via === 'poll' ? ip : addrStr}</td>
            <td>
              <span class="badge">{t(`hears.${via}`)}</span>
            </td>
            <td dir="auto">{agent}</td>
            <td class="not-phone" dir="auto">
              {app}
            </td>
            <td class="not-phone" dir="auto">
              {cluster}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
