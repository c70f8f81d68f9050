import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { shownSize, t } from '../language/text.ts'
import { findVersions, type Version } from '../server/configs.ts'
import { ofConfig } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../routing/location.ts'
import { useLoaded, useShown } from '../state/loaded.ts'
import { mayWriteConfig } from '../state/user.ts'
import { type Restorable, useRestore } from './restore.tsx'
import { VersionDialog } from './version-dialog.tsx'

const PAGE_SIZE = 50

type Shared = Pick<Restorable, 'name' | 'current'>

/** The versions of an item, newest first: what each changed, and the way back to it. */
export function Versions(props: Shared & { readonly isDeleted: boolean; readonly onRestored: () => void }) {
  const { name, current, isDeleted, onRestored } = props
  const pageNo = Number(place.value.params['page'] ?? '1') || 1
  const key = JSON.stringify([name, pageNo])
  const found = useLoaded(key, () => findVersions(name, pageNo, PAGE_SIZE), ofConfig(name))
  const shown = useShown(JSON.stringify(name), found, pageNo)
  const versions = shown?.value.pageItems
  const meant = nearest(versions ?? [], Number(place.value.params['at']))
  const reload = (): void => {
    onRestored()
    found.reload()
  }
  return (
    <>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {versions === undefined && found.problem === undefined && <p class="loading">{t('loading')}</p>}
      {versions?.length === 0 && (
        <div class="card">
          <Nothing text={t('noVersions')} />
        </div>
      )}
      {shown !== undefined && versions !== undefined && versions.length > 0 && (
        <>
          <ol class="card versions">
            {versions.map((version, index) => (
              <VersionRow
                key={version.historyId}
                {...{ name, current, version, isDeleted }}
                older={versions[index + 1]}
                versions={versions}
                position={(shown.asked - 1) * PAGE_SIZE + index}
                isOpen={version === meant}
                onRestored={reload}
              />
            ))}
          </ol>
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

/** How far the times of a version and of what tells of it may be apart. */
const NEAR_MS = 3_000

/** The version of that time, if there is one. */
function nearest(versions: readonly Version[], atMs: number): Version | undefined {
  const apart = ({ atMs: ownMs }: Version): number => Math.abs(ownMs - atMs)
  const [first] = versions.filter((one) => apart(one) < NEAR_MS).toSorted((a, b) => apart(a) - apart(b))
  return first
}

interface RowProps extends Shared {
  /** Whether its difference is shown at once. */
  readonly isOpen: boolean

  readonly version: Version
  readonly older: Version | undefined
  /** The versions that it can be compared with. */
  readonly versions: readonly Version[]
  /** Its place among all versions, from 0. */
  readonly position: number
  readonly isDeleted: boolean
  readonly onRestored: () => void
}

function VersionRow(props: RowProps) {
  const { name, current, version, older, versions, position, isOpen, isDeleted, onRestored } = props
  const { op, user, ip, comment, atMs, size, historyId } = version
  const [shown, setShown] = useState<'difference' | 'text' | undefined>(isOpen ? 'difference' : undefined)
  const { open, flow } = useRestore({ name, current, historyId, atMs, onRestored })
  const mayRestore = mayWriteConfig(name) && !version.current && op !== 'D'
  const isKnown = current !== undefined || isDeleted
  const what = { I: t('versionCreated'), U: t('versionChanged'), D: t('versionDeleted') }[op]
  const kind = { I: 'good', U: '', D: 'bad' }[op]
  return (
    <li>
      <span>
        <i class={`dot ${kind}`} />
      </span>
      <div>
        <strong>{what}</strong> {version.current && <span class="badge accent">{t('currentVersion')}</span>}
        {comment !== '' && (
          <div class="comment" dir="auto">
            {comment}
          </div>
        )}
        <div class="soft">
          <Ago atMs={atMs} /> · <span dir="auto">{user ?? ip}</span>
          {user !== null && ip !== '' && ` (${ip})`}
          {size !== null && ` · ${shownSize(size)}`}
        </div>
      </div>
      <div class="buttons">
        <button type="button" class="button small" onClick={() => setShown('difference')}>
          {t('difference')}
        </button>
        <button type="button" class="button small" onClick={() => setShown('text')}>
          {t('wholeText')}
        </button>
        {mayRestore && (
          <button type="button" class="button small" disabled={!isKnown} onClick={open}>
            {t('restore')}
          </button>
        )}
      </div>
      {shown !== undefined && (
        <VersionDialog
          {...{ name, current, version, older, versions, position, shown }}
          onShow={setShown}
          onRestore={mayRestore && isKnown ? open : undefined}
          onClose={() => setShown(undefined)}
        />
      )}
      {flow}
    </li>
  )
}
