import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { shownSize, t } from '../language/text.ts'
import { type ConfigName, findVersions, type Version, VERSIONS_PAGE_SIZE } from '../server/configs.ts'
import { ofConfig } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { mayWriteConfig } from '../state/user.ts'
import { audienceText } from '../publishing/audience.ts'
import { linkToConfig } from '../routing/key-of.ts'
import { type Restorable, useRestore } from './restore.tsx'
import { VersionDialog } from './version-dialog.tsx'

type Shared = Pick<Restorable, 'name' | 'current'>

/** The versions of an item, newest first: what each changed, and the way back to it. */
export function Versions(props: Shared & { readonly isDeleted: boolean; readonly onRestored: () => void }) {
  const { name, current, isDeleted, onRestored } = props
  const pageNo = Number(place.value.params['page'] ?? '1') || 1
  const key = JSON.stringify([name, pageNo])
  const page = { pageNo, pageSize: VERSIONS_PAGE_SIZE, withGray: true } as const
  const found = useLoaded(key, () => findVersions(name, page), ofConfig(name))
  const shown = useShown(JSON.stringify(name), found, pageNo)
  const all = shown?.value.pageItems
  // Those of all clients can be compared and restored here.
  const versions = all?.filter(({ grayName }) => grayName === undefined)
  const meant = nearest(versions ?? [], Number(place.value.params['at']))
  const reload = (): void => {
    onRestored()
    found.reload()
  }
  return (
    <>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {all === undefined && found.problem === undefined && <p class="loading">{t('loading')}</p>}
      {all?.length === 0 && (
        <div class="card">
          <Nothing text={t('noVersions')} />
        </div>
      )}
      {shown !== undefined && all !== undefined && versions !== undefined && all.length > 0 && (
        <>
          <ol class="card versions">
            {all.map((version) =>
              version.grayName === undefined ? (
                <VersionRow
                  key={version.historyId}
                  {...{ name, current, version, isDeleted, versions }}
                  older={versions[versions.indexOf(version) + 1]}
                  nextPage={shown.asked + 1}
                  isOpen={version === meant}
                  onRestored={reload}
                />
              ) : (
                <GrayRow key={version.historyId} name={name} version={version} />
              ),
            )}
          </ol>
          <Pager
            pageNo={shown.asked}
            pageSize={VERSIONS_PAGE_SIZE}
            total={shown.value.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
    </>
  )
}

/** How far the times of a version and of a link to it may be apart. */
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
  /** The page with older versions. */
  readonly nextPage: number
  readonly isDeleted: boolean
  readonly onRestored: () => void
}

function VersionRow(props: RowProps) {
  const { name, current, version, older, versions, nextPage, isOpen, isDeleted, onRestored } = props
  const { op, atMs, historyId, promotedFrom } = version
  const [shown, setShown] = useState<'difference' | 'text' | undefined>(isOpen ? 'difference' : undefined)
  const { open, flow } = useRestore({ name, current, historyId, atMs, onRestored })
  const mayRestore = mayWriteConfig(name) && !version.current && op !== 'D'
  const isKnown = current !== undefined || isDeleted
  const done = { I: t('versionCreated'), U: t('versionChanged'), D: t('versionDeleted') }[op]
  const what = promotedFrom === undefined ? done : t('versionPromoted', { name: promotedFrom })
  return (
    <li>
      <Change version={version} what={what} />
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
          {...{ name, current, version, older, versions, nextPage, shown }}
          onShow={setShown}
          onRestore={mayRestore && isKnown ? open : undefined}
          onClose={() => setShown(undefined)}
        />
      )}
      {flow}
    </li>
  )
}

/** A change of a gray version: the page of these has what can be done with it. */
function GrayRow({ name, version }: { readonly name: ConfigName; readonly version: Version }) {
  const { op, grayName = '', grayType = 'beta', grayMatchRuleExp = '' } = version
  const done = { I: 'grayBegan', U: 'grayChanged', D: 'grayEnded' } as const
  const what = t(done[op], { name: grayName, who: audienceText({ grayType, grayMatchRuleExp }) })
  return (
    <li>
      <Change version={version} what={what} />
      <div class="buttons">
        <a class="button small" href={linkToConfig(name, 'gray')}>
          {t('gray')}
        </a>
      </div>
    </li>
  )
}

const KINDS = { I: 'good', U: '', D: 'bad' } as const

/** A change: its kind, reason, time and author. */
function Change({ version, what }: { readonly version: Version; readonly what: string }) {
  const { op, user, ip, comment, atMs, size, current, grayName } = version
  return (
    <>
      <span>
        <i class={`dot ${grayName === undefined ? KINDS[op] : ''}`} />
      </span>
      <div>
        <strong>{what}</strong> {current && <span class="badge accent">{t('currentVersion')}</span>}
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
    </>
  )
}
