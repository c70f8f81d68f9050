import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { LoadProblem, Nothing } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import { ofConfig } from '../live/meant.ts'
import { placeWith } from '../routing/link.ts'
import { addressOf, goBackTo, place } from '../state/location.ts'
import { type ConfigItem, type ConfigName, readWatchers, type Watcher } from '../server/configs.ts'
import type { GrayVersion } from '../server/gray.ts'
import { type Loaded, useLoaded } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { mayWriteConfig } from '../state/user.ts'
import { DraftThere } from '../publishing/draft-notice.tsx'
import { Beside } from './beside.tsx'
import { EditGray } from './edit-gray.tsx'
import { ExplainGray } from './explain-gray.tsx'
import { audienceText } from '../publishing/audience.ts'
import { GrowDialog } from './grow-dialog.tsx'
import { PromoteDialog } from './promote-dialog.tsx'
import { StopDialog } from './stop-dialog.tsx'

interface GrayProps {
  readonly name: ConfigName
  /** The formal version; undefined where there is none, or it is not known yet. */
  readonly formal: ConfigItem | undefined
  readonly found: Loaded<readonly GrayVersion[]>
}

/** The gray versions of an item beside the formal one, what may be done with each, and why a client gets which. */
export function GrayVersions({ name, formal, found }: GrayProps) {
  const watchers = useLoaded(JSON.stringify(name), () => readWatchers(name), ofConfig(name, 'watchers'))
  const versions = found.value
  const { params } = useStore(place)
  const edited = mayWriteConfig(name) ? params['edit'] : undefined
  if (edited !== undefined)
    return (
      <EditGray
        key={edited}
        {...{ name, formal }}
        grayName={edited}
        onEnd={() => {
          goBackTo(placeWith({ edit: '' }))
          found.reload()
        }}
      />
    )
  return (
    <div class="stack">
      <LoadProblem found={found} />
      {versions === undefined && found.problem === undefined && <p class="loading">{t('loading')}</p>}
      {versions?.length === 0 && (
        <div class="card">
          <Nothing text={t('noGray')} />
        </div>
      )}
      {versions?.map((version, index) => (
        <VersionCard
          key={version.id}
          {...{ name, formal, version, versions }}
          watchers={watchers.value?.watchers}
          isOpen={index === 0}
          onChanged={found.reload}
        />
      ))}
      {versions !== undefined && versions.length > 0 && <ExplainGray name={name} versions={versions} />}
    </div>
  )
}

interface CardProps extends Pick<GrayProps, 'name' | 'formal'> {
  readonly version: GrayVersion
  readonly versions: readonly GrayVersion[]
  readonly watchers: readonly Watcher[] | undefined
  readonly isOpen: boolean
  readonly onChanged: () => void
}

function VersionCard({ name, formal, version, versions, watchers, isOpen, onChanged }: CardProps) {
  const [isShown, setShown] = useState(isOpen)
  const { grayName } = version
  return (
    <section class="card padded gray-version" aria-label={t('grayVersionOf', { name: grayName })}>
      <div class="head">
        <div class="title">
          <h2 dir="auto">{grayName}</h2>
          <p dir="auto">{audienceText(version)}</p>
          <Authors version={version} />
          {watchers !== undefined && <Spread grayName={grayName} watchers={watchers} />}
        </div>
        <div class="buttons">
          <button
            type="button"
            class="button small"
            aria-expanded={isShown}
            onClick={() => setShown(!isShown)}
          >
            {t('difference')}
          </button>
          {mayWriteConfig(name) && <Changes {...{ name, formal, version, versions, onChanged }} />}
        </div>
      </div>
      {mayWriteConfig(name) && (
        <DraftThere place={{ ...name, grayName }} href={addressOf(placeWith({ edit: grayName }))} />
      )}
      {isShown && <Beside {...{ name, formal, version }} />}
    </section>
  )
}

/** When it was published, by whom and why, and when it was changed last. */
function Authors({ version }: { version: GrayVersion }) {
  const { createTime, createUser, createIp, modifyTime, modifyUser, modifyIp, comment } = version
  return (
    <>
      <div class="soft">
        {t('graySince')}: <Ago atMs={createTime} /> · <span dir="auto">{createUser ?? createIp}</span>
        {modifyTime !== createTime && (
          <>
            {' · '}
            {t('changed')}: <Ago atMs={modifyTime} /> · <span dir="auto">{modifyUser ?? modifyIp}</span>
          </>
        )}
      </div>
      {comment !== '' && (
        <div class="comment" dir="auto">
          {comment}
        </div>
      )}
    </>
  )
}

/** For how many listening clients the version is, and how many of these clients have it. */
function Spread({ grayName, watchers }: { grayName: string; watchers: readonly Watcher[] }) {
  const own = watchers.filter((watcher) => watcher.grayName === grayName)
  const have = own.filter(({ has }) => has === 'gray').length
  return (
    <div class="soft">
      {t('graySpread', {
        have: shownNumber(have),
        own: shownNumber(own.length),
        all: shownNumber(watchers.length),
      })}
    </div>
  )
}

/** The buttons for those who may write. */
function Changes(props: Omit<CardProps, 'watchers' | 'isOpen'>) {
  const { name, formal, version, versions, onChanged } = props
  const [open, setOpen] = useState<'promote' | 'grow' | 'stop' | undefined>()
  const shared = { name, version, onClose: () => setOpen(undefined), onDone: onChanged }
  return (
    <>
      <a class="button small" href={addressOf(placeWith({ edit: version.grayName }))}>
        {t('edit')}
      </a>
      <button type="button" class="button small" onClick={() => setOpen('promote')}>
        {t('grayPromote')}
      </button>
      {version.grayType !== 'tag' && (
        <button type="button" class="button small" onClick={() => setOpen('grow')}>
          {t('grayGrow')}
        </button>
      )}
      <button type="button" class="button small danger-quiet" onClick={() => setOpen('stop')}>
        {t('grayStop')}
      </button>
      {open === 'promote' && <PromoteDialog {...shared} formal={formal} count={versions.length} />}
      {open === 'grow' && <GrowDialog {...shared} />}
      {open === 'stop' && <StopDialog {...shared} />}
    </>
  )
}
