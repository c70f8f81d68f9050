import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { SelectField } from '../controls/field.tsx'
import { Nothing, LoadProblem, ProblemNotice } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { DiffView } from '../editor/code-view.tsx'
import { shownSize, shownTime, t } from '../language/text.ts'
import {
  type ConfigItem,
  type ConfigName,
  findVersions,
  readVersion,
  restoreVersion,
  type Version,
} from '../server/configs.ts'
import { ofConfig } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../routing/location.ts'
import { useLoaded, useShown } from '../state/loaded.ts'
import { mayWrite } from '../state/user.ts'
import type { Base, Edit } from './edit.ts'
import { PublishFlow } from './publish-flow.tsx'
import { ChangedKeys } from './review-sheet.tsx'

const PAGE_SIZE = 50

interface Shared {
  readonly name: ConfigName
  /** Undefined where the item is deleted, or not known yet. */
  readonly current: ConfigItem | undefined
}

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
  /** Those that it can be compared with. */
  readonly versions: readonly Version[]
  /** Its place among all versions, from 0. */
  readonly position: number
  readonly isDeleted: boolean
  readonly onRestored: () => void
}

function VersionRow(props: RowProps) {
  const { name, current, version, older, versions, position, isOpen, isDeleted, onRestored } = props
  const { op, user, ip, comment, atMs, size } = version
  const [isCompared, setCompared] = useState(isOpen)
  const mayRestore = mayWrite(name.tenant) && !version.current && op !== 'D'
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
        <button type="button" class="button small" onClick={() => setCompared(true)}>
          {t('difference')}
        </button>
        {mayRestore && (
          <RestoreButton
            name={name}
            current={current}
            historyId={version.historyId}
            isDisabled={!isKnown}
            onRestored={onRestored}
          />
        )}
      </div>
      {isCompared && (
        <CompareDialog
          {...{ name, current, version, older, versions, position }}
          onClose={() => setCompared(false)}
        />
      )}
    </li>
  )
}

/** Publishes a version once more, after a review. It never deletes, and fails where somebody else was faster. */
export function RestoreButton(
  props: Shared & {
    readonly historyId: string
    readonly isDisabled: boolean
    readonly onRestored: () => void
  },
) {
  const { name, current, historyId, isDisabled, onRestored } = props
  const [edit, setEdit] = useState<Edit | undefined>()
  // Merged texts are no version any more.
  const [isMerged, setMerged] = useState(false)
  const nothing: Base = { ...name, type: '', desc: '', appName: '', configTags: '', content: '', md5: '' }
  const open = async (): Promise<void> => {
    const { content, type, appName } = await readVersion(name, historyId)
    setEdit({ ...(current ?? nothing), content, type, appName })
  }
  const close = (): void => setEdit(undefined)
  return (
    <>
      <button
        type="button"
        class="button small"
        disabled={isDisabled}
        onClick={() => void open().catch(tellProblem)}
      >
        {t('restore')}
      </button>
      {edit !== undefined && (
        <PublishFlow
          base={current ?? { ...nothing, type: edit.type, appName: edit.appName }}
          edit={edit}
          {...(isMerged ? {} : { send: (sent) => restoreVersion(name, historyId, sent) })}
          onClose={close}
          onPublished={() => {
            close()
            onRestored()
          }}
          onMerged={(content) => {
            setEdit({ ...edit, content })
            setMerged(true)
            onRestored()
          }}
        />
      )}
    </>
  )
}

function CompareDialog(
  props: Shared & {
    readonly version: Version
    readonly older: Version | undefined
    readonly versions: readonly Version[]
    readonly position: number
    readonly onClose: () => void
  },
) {
  const { name, current, version, older, versions, position, onClose } = props
  const [otherId, setOtherId] = useState(older?.historyId ?? '')
  const other = versions.find(({ historyId }) => historyId === otherId)
  const isNewer = other !== undefined && versions.indexOf(other) < versions.indexOf(version)
  const texts = useLoaded(JSON.stringify([name, version.historyId, otherId]), async () => {
    const textOf = async (one: Version | undefined): Promise<string> =>
      one === undefined || one.op === 'D' ? '' : (await readVersion(name, one.historyId)).content
    // That before the last one of this page is on the next page.
    const isOnNext = other === undefined && version.op !== 'I'
    const before = isOnNext ? (await findVersions(name, position + 2, 1)).pageItems[0] : undefined
    const [own, its] = await Promise.all([textOf(version), textOf(other ?? before)])
    return isNewer ? ([own, its] as const) : ([its, own] as const)
  })
  const type = version.type ?? current?.type ?? other?.type ?? 'text'
  const nothing = version.op === 'I' ? t('nothingYet') : t('versionBefore')
  const titles = [other === undefined ? nothing : titleOf(other, older), t('thisVersion')]
  if (isNewer) titles.reverse()
  return (
    <Dialog
      isWide
      title={t('versionOf', { name: name.dataId })}
      onClose={onClose}
      footer={
        <button type="button" class="button" onClick={onClose}>
          {t('close')}
        </button>
      }
    >
      <SelectField
        label={t('compareWith')}
        value={otherId}
        choices={[
          ...(older === undefined ? [['', nothing] as const] : []),
          ...versions
            .filter((one) => one !== version)
            .map((one) => [one.historyId, titleOf(one, older)] as const),
        ]}
        onChange={setOtherId}
      />
      <ProblemNotice problem={texts.problem} />
      {texts.value && (
        <>
          <div>
            <div class="diff-titles">
              <span dir="auto">{titles[0]}</span>
              <span dir="auto">{titles[1]}</span>
            </div>
            <DiffView before={texts.value[0]} after={texts.value[1]} type={type} label={t('difference')} />
          </div>
          <ChangedKeys before={texts.value[0]} after={texts.value[1]} type={type} />
        </>
      )}
    </Dialog>
  )
}

/** A version in a list: its time, its author, and which one it is. */
function titleOf(version: Version, older: Version | undefined): string {
  const { atMs, user, ip, comment, current } = version
  const which = current ? t('currentVersion') : version === older ? t('versionBefore') : ''
  return [which, shownTime(atMs), user ?? ip, comment].filter((part) => part !== '').join(' · ')
}
