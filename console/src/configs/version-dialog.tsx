import { useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { SelectField } from '../controls/field.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { CodeView, DiffView } from '../editor/code-view.tsx'
import { shownTime, t } from '../language/text.ts'
import {
  type ConfigName,
  findVersions,
  readVersion,
  type Version,
  VERSIONS_PAGE_SIZE,
} from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import type { Restorable } from './restore.tsx'
import { ChangedKeys } from '../publishing/review-sheet.tsx'
import { formatOf } from '../publishing/format-of.ts'

type Part = 'difference' | 'text'

interface DialogProps extends Pick<Restorable, 'name' | 'current'> {
  readonly version: Version
  readonly older: Version | undefined
  readonly versions: readonly Version[]
  /** The page with older versions. */
  readonly nextPage: number
  readonly shown: Part
  readonly onShow: (part: Part) => void
  /** Undefined where this version cannot be restored. */
  readonly onRestore: (() => void) | undefined
  readonly onClose: () => void
}

/** A version: its difference to another one, or its whole text. */
export function VersionDialog(props: DialogProps) {
  const { name, version, shown, onShow, onRestore, onClose } = props
  const whole = useLoaded(JSON.stringify([name, version.historyId]), () =>
    readVersion(name, version.historyId),
  )
  return (
    <Dialog
      isWide
      title={t('versionOf', { name: name.dataId })}
      onClose={onClose}
      footer={
        <>
          {whole.value && (
            <span class="start">
              <CopyButton text={whole.value.content} label={t('copyText')} isWithText />
            </span>
          )}
          <button type="button" class="button" onClick={onClose}>
            {t('close')}
          </button>
          {onRestore && (
            <button
              type="button"
              class="button primary"
              onClick={() => {
                onClose()
                onRestore()
              }}
            >
              {t('restore')}
            </button>
          )}
        </>
      }
    >
      <div class="segments" role="group" aria-label={t('parts')}>
        {(['difference', 'text'] as const).map((part) => (
          <button
            key={part}
            type="button"
            class="button small"
            aria-pressed={part === shown}
            onClick={() => onShow(part)}
          >
            {part === 'text' ? t('wholeText') : t('difference')}
          </button>
        ))}
      </div>
      <p class="soft name-line">
        {t('versionId', { id: version.historyId })}
        <CopyButton text={version.historyId} label={t('copyName', { name: version.historyId })} />
      </p>
      <LoadProblem found={whole} />
      {shown === 'difference' ? (
        <Difference {...props} />
      ) : (
        whole.value && (
          <CodeView
            text={whole.value.content}
            type={formatOf(whole.value.type, name.dataId)}
            label={t('wholeText')}
          />
        )
      )}
    </Dialog>
  )
}

function Difference({ name, current, version, older, versions, nextPage }: DialogProps) {
  const [otherId, setOtherId] = useState(older?.historyId ?? '')
  const other = versions.find(({ historyId }) => historyId === otherId)
  const isNewer = other !== undefined && versions.indexOf(other) < versions.indexOf(version)
  const texts = useLoaded(JSON.stringify([name, version.historyId, otherId]), async () => {
    const textOf = async (one: Version | undefined): Promise<string> =>
      one === undefined || one.op === 'D' ? '' : (await readVersion(name, one.historyId)).content
    // That before the last one of this page is on the next page.
    const isOnNext = other === undefined && version.op !== 'I'
    const before = isOnNext ? await firstOf(name, nextPage) : undefined
    const [own, its] = await Promise.all([textOf(version), textOf(other ?? before)])
    return isNewer ? ([own, its] as const) : ([its, own] as const)
  })
  const type = formatOf(version.type ?? current?.type ?? other?.type ?? 'text', name.dataId)
  const nothing = version.op === 'I' ? t('nothingYet') : t('versionBefore')
  const titles = [other === undefined ? nothing : titleOf(other, older), t('thisVersion')]
  if (isNewer) titles.reverse()
  return (
    <>
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
      <LoadProblem found={texts} />
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
    </>
  )
}

/** The first version for all on a page; of an item with very many changes of gray versions there may be none. */
async function firstOf(name: ConfigName, pageNo: number): Promise<Version | undefined> {
  const { pageItems } = await findVersions(name, { pageNo, pageSize: VERSIONS_PAGE_SIZE, withGray: true })
  return pageItems.find(({ grayName }) => grayName === undefined)
}

/** A version in a list: its time, its author, and which one it is. */
function titleOf(version: Version, older: Version | undefined): string {
  const { atMs, user, ip, comment, current } = version
  const which = current ? t('currentVersion') : version === older ? t('versionBefore') : ''
  return [which, shownTime(atMs), user ?? ip, comment].filter((part) => part !== '').join(' · ')
}
