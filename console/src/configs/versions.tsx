import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, ProblemNotice } from '../controls/notice.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { DiffView } from '../editor/code-view.tsx'
import { t } from '../language/text.ts'
import { readHistory, type ConfigItem, type ConfigName } from '../server/configs.ts'
import { useLoaded } from '../state/loaded.ts'
import { mayWrite } from '../state/user.ts'
import { type Base, PublishFlow } from './publish-flow.tsx'
import { ChangedKeys } from './review-sheet.tsx'
import { readVersion, type Version, versionsOf } from './version-list.ts'

const FIRST = 100

interface Shared {
  readonly name: ConfigName
  /** Undefined where the item is deleted, or not known yet. */
  readonly current: ConfigItem | undefined
}

/** The versions of an item, newest first: what each changed, and the way back to it. */
export function Versions(props: Shared & { readonly isDeleted: boolean; readonly onRestored: () => void }) {
  const { name, current, isDeleted, onRestored } = props
  const history = useLoaded(JSON.stringify([name, current?.md5]), () => readHistory(name, 1, FIRST))
  const versions = versionsOf(history.value?.pageItems ?? [])
  const reload = (): void => {
    onRestored()
    history.reload()
  }
  return (
    <>
      <ProblemNotice problem={history.problem} onRetry={history.reload} />
      {history.value === undefined
        ? history.problem === undefined && <p class="loading">{t('loading')}</p>
        : versions.length === 0 && (
            <div class="card">
              <Nothing text={t('noVersions')} />
            </div>
          )}
      {versions.length > 0 && (
        <ol class="card versions">
          {versions.map((version, index) => (
            <VersionRow
              key={version.id}
              {...{ name, current, version, isDeleted }}
              isFirst={index === 0}
              older={versions[index + 1]}
              onRestored={reload}
            />
          ))}
        </ol>
      )}
      {(history.value?.totalCount ?? 0) > FIRST && (
        <p class="soft">{t('newestVersions', { count: FIRST })}</p>
      )}
    </>
  )
}

interface RowProps extends Shared {
  readonly version: Version
  readonly older: Version | undefined
  readonly isFirst: boolean
  readonly isDeleted: boolean
  readonly onRestored: () => void
}

function VersionRow(props: RowProps) {
  const { name, current, version, older, isFirst, isDeleted, onRestored } = props
  const [isCompared, setCompared] = useState(false)
  const [restored, setRestored] = useState<string | undefined>()
  const isCurrent = isFirst && version.op !== 'D'
  const mayRestore = mayWrite(name.tenant) && version.op !== 'D' && !isCurrent
  const isKnown = current !== undefined || isDeleted
  const restore = async (): Promise<void> => setRestored(await readVersion(name, version))
  const what = { I: t('versionCreated'), U: t('versionChanged'), D: t('versionDeleted') }[version.op]
  const kind = { I: 'good', U: '', D: 'bad' }[version.op]
  return (
    <li>
      <span>
        <i class={`dot ${kind}`} />
      </span>
      <div>
        <strong>{what}</strong> {isCurrent && <span class="badge accent">{t('currentVersion')}</span>}
        <div class="soft">
          <Ago atMs={version.atMs} /> · <span dir="auto">{version.user ?? version.ip ?? '–'}</span>
          {version.user !== null && version.ip !== null && ` (${version.ip})`}
        </div>
      </div>
      <div class="buttons">
        <button type="button" class="button small" onClick={() => setCompared(true)}>
          {t('difference')}
        </button>
        {mayRestore && (
          <button
            type="button"
            class="button small"
            disabled={!isKnown}
            onClick={() => void restore().catch(tellProblem)}
          >
            {t('restore')}
          </button>
        )}
      </div>
      {isCompared && (
        <CompareDialog
          {...{ name, current, version, older }}
          isCurrent={isCurrent}
          onClose={() => setCompared(false)}
        />
      )}
      {restored !== undefined && (
        <PublishFlow
          base={current ?? deletedBase(name)}
          edit={{ ...(current ?? deletedBase(name)), content: restored }}
          onClose={() => setRestored(undefined)}
          onPublished={() => {
            setRestored(undefined)
            onRestored()
          }}
          onMerged={(text) => {
            setRestored(text)
            onRestored()
          }}
        />
      )}
    </li>
  )
}

/** What a deleted item is published over: it must still not be there. */
function deletedBase(name: ConfigName): Base {
  const type = /\.(ya?ml|json|xml|properties|toml|html)$/i.exec(name.dataId)?.[1]?.toLowerCase() ?? 'text'
  const notes = { desc: '', appName: '', configTags: '' }
  return { ...name, ...notes, type: type === 'yml' ? 'yaml' : type, content: '', md5: '' }
}

function CompareDialog(
  props: Shared & {
    readonly version: Version
    readonly older: Version | undefined
    readonly isCurrent: boolean
    readonly onClose: () => void
  },
) {
  const { name, current, version, older, isCurrent, onClose } = props
  const [withCurrent, setWithCurrent] = useState(false)
  const key = JSON.stringify([name, version.id, older?.id, withCurrent])
  const texts = useLoaded(key, async () => {
    const own = await readVersion(name, version)
    if (withCurrent) return [own, current?.content ?? ''] as const
    return [older === undefined ? '' : await readVersion(name, older), own] as const
  })
  const type = current?.type ?? deletedBase(name).type
  const [left, right] = withCurrent
    ? [t('thisVersion'), t('currentVersion')]
    : [t('versionBefore'), t('thisVersion')]
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
      {!isCurrent && (
        <div class="buttons" role="group" aria-label={t('compareWith')}>
          <button
            type="button"
            class="button small"
            aria-pressed={!withCurrent}
            onClick={() => setWithCurrent(!withCurrent)}
          >
            <Icon name="refresh" />
            {withCurrent ? t('compareWithBefore') : t('compareWithCurrent')}
          </button>
        </div>
      )}
      <ProblemNotice problem={texts.problem} />
      {texts.value && (
        <>
          <div>
            <div class="diff-titles">
              <span>{left}</span>
              <span>{right}</span>
            </div>
            <DiffView before={texts.value[0]} after={texts.value[1]} type={type} label={t('difference')} />
          </div>
          <ChangedKeys before={texts.value[0]} after={texts.value[1]} type={type} />
        </>
      )}
    </Dialog>
  )
}
