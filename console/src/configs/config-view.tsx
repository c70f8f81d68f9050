import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ConnectButton } from '../connect/connect-button.tsx'
import { Ago } from '../controls/ago.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { later } from '../controls/later.tsx'
import { Icon } from '../controls/icon.tsx'
import { Breakable } from '../controls/breakable.tsx'
import { MayNotWrite } from '../controls/may-not.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { CodeView } from '../editor/code-view.tsx'
import { shownNumber, shownSize, t } from '../language/text.ts'
import { linkTo, placeWith, viewAt } from '../routing/link.ts'
import { addressOf, go, goBackTo, place } from '../state/location.ts'
import { type ConfigItem, type ConfigName, readConfig } from '../server/configs.ts'
import { readGrayOf } from '../server/gray.ts'
import { ofConfig } from '../live/meant.ts'
import { keyOf, lastPublished } from '../state/last-published.ts'
import { useLoaded } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { mayWriteAnywhere, mayWriteConfig } from '../state/user.ts'
import { AcrossNamespaces } from './across-namespaces.tsx'
import { LastAuthor } from '../publishing/last-author.tsx'
import { CloneDialog } from './clone-dialog.tsx'
import { DeleteConfigs } from './delete-configs.tsx'
import { DraftThere } from '../publishing/draft-notice.tsx'
import { EditConfig } from './edit-config.tsx'
import { configNameIn } from '../routing/key-of.ts'
import { Tags } from './tags.tsx'
import { Versions } from './versions.tsx'
import { Watchers, WhoHasIt } from './watchers.tsx'
import { formatOf } from '../publishing/format-of.ts'

const GrayVersions = later(async () => (await import('../gray/gray-versions.tsx')).GrayVersions)

const TABS = ['content', 'versions', 'gray', 'watchers', 'across'] as const

/** One item: its content, its versions, and who watches it. Nothing is carried over from another item, least of all an edit. */
export function ConfigView() {
  const name = configNameIn(useStore(place).params)
  return <ConfigParts key={keyOf(name)} name={name} />
}

function ConfigParts({ name }: { name: ConfigName }) {
  const { params } = useStore(place)
  const item = useLoaded(JSON.stringify(name), () => readConfig(name), ofConfig(name))
  const gray = useLoaded(keyOf(name), () => readGrayOf(name), ofConfig(name))
  const grayCount = gray.value?.length ?? 0
  const tab = TABS.find((one) => one === params['tab']) ?? 'content'
  const isGone = item.problem?.code === 'config-not-found'
  // An edit stays, whatever happens to the item meanwhile.
  const isEditing = tab === 'content' && params['edit'] === 'yes' && mayWriteConfig(name)
  const last = useRef<ConfigItem | undefined>(undefined)
  if (item.value !== undefined || !isEditing) last.current = item.value
  const shown = last.current
  const published = useStore(lastPublished)
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('configs')}>{t('configs')}</a> <Icon name="right" />
        <NamespaceMark id={name.tenant} /> <Icon name="right" />
        <span dir="auto">{name.group}</span>
      </p>
      <div class="head">
        <div class="title">
          <h1 dir="auto">
            <Breakable text={name.dataId} />{' '}
            <CopyButton text={name.dataId} label={t('copyName', { name: name.dataId })} />
          </h1>
        </div>
      </div>
      <nav class="tabs" aria-label={t('parts')}>
        {TABS.map((one) => (
          <a
            key={one}
            href={addressOf(placeWith({ tab: one, edit: '', at: '', page: '' }))}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t(one)}
            {one === 'gray' && grayCount > 0 && ` (${shownNumber(grayCount)})`}
          </a>
        ))}
      </nav>
      {published?.key === keyOf(name) && !isEditing && tab !== 'watchers' && (
        <WhoHasIt key={published.count} name={name} />
      )}
      {tab === 'versions' ? (
        <Versions name={name} current={item.value} isDeleted={isGone} onRestored={item.reload} />
      ) : tab === 'gray' ? (
        <GrayVersions name={name} formal={item.value} found={gray} />
      ) : tab === 'across' ? (
        <AcrossNamespaces name={name} />
      ) : tab === 'watchers' ? (
        <Watchers name={name} />
      ) : (
        <>
          {isGone && grayCount > 0 ? <p>{t('grayOnly')}</p> : <LoadProblem found={item} />}
          {isGone && !isEditing && (
            <p>
              <a href={addressOf(placeWith({ tab: grayCount > 0 ? 'gray' : 'versions' }))}>
                {grayCount > 0 ? t('seeGray') : t('seeVersions')}
              </a>
            </p>
          )}
          {shown === undefined ? (
            item.problem === undefined && <p class="loading">{t('loading')}</p>
          ) : (
            <Content item={shown} isEditing={isEditing} onPublished={item.reload} />
          )}
        </>
      )}
    </>
  )
}

function Content(props: {
  readonly item: ConfigItem
  readonly isEditing: boolean
  readonly onPublished: () => void
}) {
  const { item, isEditing, onPublished } = props
  const [open, setOpen] = useState<'delete' | 'clone' | undefined>()
  const close = (): void => setOpen(undefined)
  if (isEditing)
    return (
      <EditConfig
        item={item}
        onEnd={(isPublished) => {
          goBackTo(placeWith({ edit: '' }))
          if (isPublished) onPublished()
        }}
      />
    )
  return (
    <>
      {mayWriteConfig(item) && <DraftThere place={item} href={addressOf(placeWith({ edit: 'yes' }))} />}
      <div class="two">
        <CodeView
          text={item.content}
          type={formatOf(item.type, item.dataId)}
          label={t('contentOf', { name: item.dataId })}
        />
        <div class="stack">
          {!mayWriteConfig(item) && <MayNotWrite name={item} />}
          <div class="buttons">
            {mayWriteConfig(item) && (
              <a
                class="button primary"
                data-key="e"
                aria-keyshortcuts="e"
                href={addressOf(placeWith({ edit: 'yes' }))}
              >
                <Icon name="edit" />
                {t('edit')}
              </a>
            )}
            <CopyButton text={item.content} label={t('copyText')} isWithText />
            <ConnectButton
              namespaceId={item.tenant}
              about={{ kind: 'config', group: item.group, dataId: item.dataId }}
            />
            {mayWriteAnywhere() && (
              <button type="button" class="button" onClick={() => setOpen('clone')}>
                {t('clone')}
              </button>
            )}
            {mayWriteConfig(item) && (
              <button type="button" class="button danger-quiet" onClick={() => setOpen('delete')}>
                <Icon name="trash" />
                {t('delete')}
              </button>
            )}
          </div>
          <Facts item={item} />
        </div>
        {open === 'delete' && (
          <DeleteConfigs items={[item]} onClose={close} onDone={() => go(viewAt('configs'))} />
        )}
        {open === 'clone' && <CloneDialog items={[item]} onClose={close} onDone={() => undefined} />}
      </div>
    </>
  )
}

function Facts({ item }: { item: ConfigItem }) {
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [t('type'), <span class="badge">{item.type.toUpperCase()}</span>],
    [t('description'), item.desc && <span dir="auto">{item.desc}</span>],
    [t('application'), item.appName && <span dir="auto">{item.appName}</span>],
    [t('tags'), item.configTags && <Tags tags={item.configTags} />],
    [t('size'), shownSize(new Blob([item.content]).size)],
    [t('changed'), <LastAuthor name={item} md5={item.md5} otherwise={<Ago atMs={item.modifyTime} />} />],
    [t('created'), <Ago atMs={item.createTime} />],
    [t('createdBy'), [item.createUser, item.createIp].filter(Boolean).join(' · ')],
    ['MD5', <code>{item.md5}</code>],
  ]
  return (
    <div class="card padded">
      <dl class="facts">
        {facts.map(
          ([label, value]) =>
            value !== '' && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  )
}
