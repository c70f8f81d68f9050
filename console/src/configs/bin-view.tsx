import { Ago } from '../controls/ago.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { shownSize, t } from '../language/text.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { type DeletedConfig, findDeleted } from '../server/configs.ts'
import { within } from '../live/meant.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { currentNamespace, refreshNamespaces } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWriteConfig } from '../state/user.ts'
import { GrayOnlyMark } from '../gray/gray-only-mark.tsx'
import { RestoreGrayButton } from '../gray/restore-gray.tsx'
import { linkToConfig } from '../routing/key-of.ts'
import { RestoreButton } from './restore.tsx'

const PAGE_SIZE = 50

/** The deleted configurations of a namespace, as long as the history keeps them. */
export function BinView() {
  const { params } = useStore(place)
  const namespaceId = currentNamespace()
  const pageNo = Number(params['page'] ?? '1') || 1
  const found = useLoaded(
    JSON.stringify([namespaceId, pageNo]),
    () => findDeleted(namespaceId, pageNo),
    within('config', namespaceId),
  )
  const shown = useShown(namespaceId, found, pageNo)
  const restored = (): void => {
    found.reload()
    void refreshNamespaces().catch(() => undefined)
  }
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('bin')}</h1>
          <p class="soft">{t('binText')}</p>
        </div>
      </div>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown && (
        <>
          <div class="card table-card">
            {shown.value.pageItems.length === 0 ? (
              <Nothing text={t('binEmpty')} />
            ) : (
              <BinTable items={shown.value.pageItems} onRestored={restored} />
            )}
          </div>
          <Pager
            pageNo={shown.asked}
            pageSize={PAGE_SIZE}
            total={shown.value.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
    </>
  )
}

function BinTable(props: { readonly items: readonly DeletedConfig[]; readonly onRestored: () => void }) {
  const { items, onRestored } = props
  return (
    <table>
      <thead>
        <tr>
          <th>{t('dataId')}</th>
          <th>{t('group')}</th>
          <th>{t('type')}</th>
          <th class="number not-phone">{t('size')}</th>
          <th>{t('versionDeleted')}</th>
          <th class="actions">
            <span class="hidden">{t('actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.historyId}>
            <td class="name">
              {item.grayVersions.length > 0 ? (
                // The list of versions has those for all.
                <span dir="auto">{item.dataId}</span>
              ) : (
                <a href={linkToConfig(item, 'versions')} dir="auto">
                  {item.dataId}
                </a>
              )}
              {item.desc !== '' && <div class="soft clamp">{item.desc}</div>}
              {item.grayVersions.length > 0 && (
                <div>
                  <GrayOnlyMark names={item.grayVersions.map(({ grayName }) => grayName)} />
                </div>
              )}
            </td>
            <td dir="auto">{item.group}</td>
            <td>
              <span class="badge">{item.type.toUpperCase()}</span>
            </td>
            <td class="number not-phone">{shownSize(item.size)}</td>
            <td>
              <Ago atMs={item.atMs} />
              <div class="soft" dir="auto">
                {item.user ?? item.ip}
              </div>
            </td>
            <td class="actions">
              {mayWriteConfig(item) && <Restoring item={item} onRestored={onRestored} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Restoring({ item, onRestored }: { item: DeletedConfig; onRestored: () => void }) {
  if (item.grayVersions.length > 0) return <RestoreGrayButton item={item} onRestored={onRestored} />
  const { historyId, atMs } = item
  return <RestoreButton name={item} current={undefined} {...{ historyId, atMs, onRestored }} />
}
