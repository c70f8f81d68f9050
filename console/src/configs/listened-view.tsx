import { Ago } from '../controls/ago.tsx'
import { TextField } from '../controls/field.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { ClientHas } from '../gray/shares.tsx'
import { t } from '../language/text.ts'
import { anyOf } from '../live/meant.ts'
import { placeWith } from '../routing/link.ts'
import { go, place } from '../state/location.ts'
import { type ConfigName, readListenedBy, readWatchers } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { linkToConfig } from '../routing/key-of.ts'
import { MissingServers } from './watchers.tsx'

const PAGE_SIZE = 25

/** The items that the clients of an address listen to, and whether they have the current versions. */
export function ListenedView() {
  const { params } = useStore(place)
  const { valueOf, type } = useTypedParams()
  const ip = (params['ip'] ?? '').trim()
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('listened')}</h1>
          <p class="soft">{t('listenedText')}</p>
        </div>
      </div>
      <div class="filters" role="search">
        <TextField
          label={t('clientIp')}
          type="search"
          placeholder="10.0.0.1"
          value={valueOf('ip')}
          onInput={(value) => type('ip', value)}
        />
      </div>
      {ip === '' ? (
        <div class="card">
          <Nothing text={t('listenedEmpty')} />
        </div>
      ) : (
        <ListenedBy key={ip} ip={ip} pageNo={Number(params['page'] ?? '1') || 1} />
      )}
    </>
  )
}

function ListenedBy({ ip, pageNo }: { ip: string; pageNo: number }) {
  const found = useLoaded(ip, () => readListenedBy(ip), anyOf('watchers'))
  const items = found.value?.items
  return (
    <>
      <LoadProblem found={found} />
      {found.value === undefined || items === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <MissingServers names={found.value.missingServers} />
          <div class="card table-card">
            {items.length === 0 ? (
              <Nothing text={t('listenedNothing')} />
            ) : (
              <table>
                <thead>
                  <tr>
                    <th>{t('dataId')}</th>
                    <th class="not-phone">{t('group')}</th>
                    <th>{t('namespace')}</th>
                    <th>{t('state')}</th>
                  </tr>
                </thead>
                <tbody>
                  {items.slice((pageNo - 1) * PAGE_SIZE, pageNo * PAGE_SIZE).map((item) => (
                    <ItemRow key={`${item.tenant} ${item.group} ${item.dataId}`} item={item} ip={ip} />
                  ))}
                </tbody>
              </table>
            )}
          </div>
          <Pager
            pageNo={pageNo}
            pageSize={PAGE_SIZE}
            total={items.length}
            onGo={(next) => go(placeWith({ page: String(next) }))}
          />
        </>
      )}
    </>
  )
}

function ItemRow({ item, ip }: { item: ConfigName; ip: string }) {
  return (
    <tr>
      <td class="name">
        <a href={linkToConfig(item, 'watchers')} dir="auto">
          {item.dataId}
        </a>
        <div class="only-phone soft">{item.group}</div>
      </td>
      <td class="not-phone" dir="auto">
        {item.group}
      </td>
      <td>
        <NamespaceMark id={item.tenant} />
      </td>
      <td>
        <OwnWatchers item={item} ip={ip} />
      </td>
    </tr>
  )
}

/** The clients of the address that have the item, or an older version of it. */
function OwnWatchers({ item, ip }: { item: ConfigName; ip: string }) {
  const found = useLoaded(JSON.stringify(item), () => readWatchers(item), anyOf('watchers', 'config'))
  const own = found.value?.watchers.filter(({ ruleIp }) => ruleIp === ip) ?? []
  return (
    <ul class="behind">
      {own.map((watcher) => (
        <li key={`${watcher.port} ${watcher.md5}`}>
          <ClientHas watcher={watcher} /> <span dir="auto">{watcher.agent}</span>{' '}
          <span class="soft">
            <Ago atMs={watcher.lastSeenMs} />
          </span>
        </li>
      ))}
    </ul>
  )
}
