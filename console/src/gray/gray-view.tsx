import { linkToConfig } from '../routing/key-of.ts'
import { Ago } from '../controls/ago.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem, Nothing } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { t } from '../language/text.ts'
import { anyOf } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { readAllGray } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'
import { now } from '../state/now.ts'
import { useStore } from '../state/store.ts'
import { mayWriteConfig } from '../state/user.ts'
import { audienceText } from '../publishing/audience.ts'
import { OutActions } from './out-actions.tsx'
import { isLongOut, type OutVersion, outVersions } from './out-versions.ts'

const PAGE_SIZE = 50

/** All gray versions that are out, the oldest first: people forget them. */
export function GrayView() {
  const { params } = useStore(place)
  const pageNo = Number(params['page'] ?? '1') || 1
  const found = useLoaded('gray', readAllGray, anyOf('config'))
  const versions = found.value && outVersions(found.value)
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('gray')}</h1>
          <p class="soft">{t('grayText')}</p>
        </div>
      </div>
      <LoadProblem found={found} />
      {versions === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <div class="card table-card" tabIndex={0}>
            {versions.length === 0 ? (
              <Nothing text={t('noGrayAnywhere')} />
            ) : (
              <OutTable
                versions={versions.slice((pageNo - 1) * PAGE_SIZE, pageNo * PAGE_SIZE)}
                onChanged={found.reload}
              />
            )}
          </div>
          <Pager
            pageNo={pageNo}
            pageSize={PAGE_SIZE}
            total={versions.length}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
    </>
  )
}

function OutTable(props: { readonly versions: readonly OutVersion[]; readonly onChanged: () => void }) {
  const { versions, onChanged } = props
  const nowMs = useStore(now)
  return (
    <table>
      <thead>
        <tr>
          <th>{t('dataId')}</th>
          <th>{t('namespace')}</th>
          <th>{t('grayVersion')}</th>
          <th>{t('grayAudience')}</th>
          <th>{t('graySince')}</th>
          <th>{t('createdBy')}</th>
          <th>{t('comment')}</th>
          <th class="actions">
            <span class="hidden">{t('actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {versions.map((out) => {
          const { item, version } = out
          return (
            <tr key={version.id}>
              <td class="name">
                <NameLink href={linkToConfig(item, 'gray')} name={item.dataId} />
                <div class="soft" dir="auto">
                  {item.group}
                </div>
              </td>
              <td>
                <NamespaceMark id={item.tenant} />
              </td>
              <td dir="auto">{version.grayName}</td>
              <td dir="auto">{audienceText(version)}</td>
              <td>
                <span class={isLongOut(version, nowMs) ? 'badge warn' : ''}>
                  <Ago atMs={version.createTime} />
                </span>
              </td>
              <td dir="auto">{version.createUser ?? version.createIp}</td>
              <td dir="auto">{version.comment}</td>
              <td class="actions">{mayWriteConfig(item) && <OutActions {...{ out, onChanged }} />}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
