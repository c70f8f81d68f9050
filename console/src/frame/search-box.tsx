import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { linkToConfig } from '../routing/key-of.ts'
import { Hits } from '../configs/hits.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, LoadProblem } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { type FoundConfig, type FoundEverywhere, searchEverywhere } from '../server/search.ts'
import type { ServiceName } from '../server/services.ts'
import { useLoaded } from '../live/loaded.ts'
import { Store, useStore } from '../state/store.ts'
import { hasLetterKeys, isTyping } from './shortcuts.ts'
import { actionsFor, namespacesFor } from './actions.ts'
import { hostPort } from '../server/host-port.ts'

const WAIT_MS = 200

const isOpen = new Store(false)
/** A click on a link closes the box. */
const close = (): void => isOpen.set(false)

/** Opens the search by `/` or Ctrl+K, except while somebody types or answers a question. */
function openByKeys(event: KeyboardEvent): void {
  const isCtrlK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey
  const isSlash =
    hasLetterKeys.value && event.key === '/' && !event.ctrlKey && !event.metaKey && !isTyping(event)
  if (event.defaultPrevented || !(isCtrlK || isSlash)) return
  if (document.querySelector('dialog[open]') !== null) return
  event.preventDefault()
  isOpen.set(true)
}

/** The button of the search, and its box. */
export function SearchButton() {
  const shown = useStore(isOpen)
  const hasLetters = useStore(hasLetterKeys)
  useEffect(() => {
    addEventListener('keydown', openByKeys)
    return () => removeEventListener('keydown', openByKeys)
  }, [])
  return (
    <>
      <button
        type="button"
        class="button search-button"
        aria-label={t('searchAll')}
        aria-keyshortcuts={hasLetters ? '/ Control+K' : 'Control+K'}
        onClick={() => isOpen.set(true)}
      >
        <Icon name="search" />
        <span class="not-phone">{t('searchAll')}</span>
        {hasLetters && <kbd class="not-phone">/</kbd>}
      </button>
      {shown && <SearchBox />}
    </>
  )
}

function SearchBox() {
  const [text, setText] = useState('')
  const [asked, setAsked] = useState('')
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), WAIT_MS)
    return () => clearTimeout(timer)
  }, [text])
  const links = (): HTMLAnchorElement[] => Array.from(list.current?.querySelectorAll('a') ?? [])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      // A field for searching would be emptied first.
      event.preventDefault()
      return close()
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const all = links()
    const at = all.indexOf(document.activeElement as HTMLAnchorElement) + (event.key === 'ArrowDown' ? 1 : -1)
    const next = all[Math.min(at, all.length - 1)]
    if (at < 0) document.querySelector<HTMLInputElement>('.search-box input')?.focus()
    else next?.focus()
  }
  return (
    <Dialog title={t('searchAll')} onClose={close} onSubmit={() => links()[0]?.click()}>
      <div class="search-box" onKeyDown={onKeyDown}>
        <input
          class="input"
          type="search"
          autofocus
          spellcheck={false}
          aria-label={t('searchAll')}
          placeholder={t('searchAllHint')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div ref={list} class="found">
          <Results text={text.trim()} asked={asked} />
        </div>
      </div>
    </Dialog>
  )
}

function Results({ text, asked }: { text: string; asked: string }) {
  const found = useLoaded(asked, async () => (asked === '' ? undefined : searchEverywhere(asked)))
  const actions = actionsFor(text)
  const spaces = text === '' ? [] : namespacesFor(text)
  const isWaiting = text !== asked || found.isLoading
  const isEmpty = actions.length + spaces.length === 0 && !hasAny(found.value)
  return (
    <>
      <Section title={t('goTo')} count={actions.length}>
        {actions.map(({ title, href }) => (
          <Hit key={href} href={href} name={title} />
        ))}
      </Section>
      <Section title={t('namespaces')} count={spaces.length}>
        {spaces.map(({ id, href }) => (
          <Hit key={id} href={href} name={<NamespaceMark id={id} />} />
        ))}
      </Section>
      <LoadProblem found={found} />
      {found.value && <Found found={found.value} asked={asked} />}
      <p class="soft" role="status">
        {text !== '' && (isWaiting ? t('loading') : isEmpty ? t('nothingFound') : '')}
      </p>
    </>
  )
}

const hasAny = (found: FoundEverywhere | undefined): boolean =>
  found !== undefined &&
  [found.configs, found.contents, found.grayOnly, found.services, found.instances].some(
    ({ length }) => length > 0,
  )

function Found({ found, asked }: { found: FoundEverywhere; asked: string }) {
  const { configs, configCount, contents, grayOnly } = found
  const { services, serviceCount, instances, instanceCount } = found
  const everywhere = { everywhere: 'yes' }
  return (
    <>
      {found.truncated && found.next === null && <Notice kind="warn">{t('searchTruncated')}</Notice>}
      {found.next !== null && (
        <Notice kind="warn">
          {t('searchPartly')}{' '}
          <a href={linkTo('configs', { ...everywhere, content: asked, after: found.next })}>
            {t('searchOn')}
          </a>
        </Notice>
      )}
      <Section
        title={t('configCount')}
        count={configCount}
        all={configCount > configs.length ? linkTo('configs', { ...everywhere, text: asked }) : undefined}
      >
        {configs.map((each) => (
          <ConfigHit key={`${each.namespaceId} ${each.group} ${each.dataId}`} found={each} />
        ))}
      </Section>
      <Section
        title={t('inContents')}
        count={contents.length}
        isOpenEnded
        all={linkTo('configs', { ...everywhere, content: asked })}
      >
        {contents.map((each) => (
          <ConfigHit key={`${each.namespaceId} ${each.group} ${each.dataId}`} found={each} />
        ))}
      </Section>
      <Section title={t('grayOnlyMark')} count={grayOnly.length} isOpenEnded>
        {grayOnly.map((each) => (
          <Hit
            key={`${each.namespaceId} ${each.group} ${each.dataId}`}
            href={linkToConfig(
              { ...each, tenant: each.namespaceId === 'public' ? '' : each.namespaceId },
              'gray',
            )}
            name={each.dataId}
            about={each.group}
            namespaceId={each.namespaceId}
          />
        ))}
      </Section>
      <Section
        title={t('serviceCount')}
        count={serviceCount}
        all={serviceCount > services.length ? linkTo('services', { ...everywhere, text: asked }) : undefined}
      >
        {services.map((each) => (
          <Hit
            key={`${each.namespaceId} ${each.groupName} ${each.serviceName}`}
            href={linkToService(each)}
            name={each.serviceName}
            about={each.groupName}
            namespaceId={each.namespaceId}
          />
        ))}
      </Section>
      <Section
        title={t('instances')}
        count={instanceCount}
        all={instanceCount > instances.length ? linkTo('services', { ...everywhere, ip: asked }) : undefined}
      >
        {instances.map((each) => (
          <Hit
            key={`${each.namespaceId} ${each.groupName} ${each.serviceName} ${each.ip} ${each.port} ${each.clusterName}`}
            href={linkToService(each, hostPort(each))}
            name={hostPort(each)}
            about={`${each.serviceName} · ${each.healthy ? t('healthy') : t('unhealthy')}${each.enabled ? '' : ` · ${t('disabled')}`}`}
            namespaceId={each.namespaceId}
          />
        ))}
      </Section>
    </>
  )
}

const linkToService = ({ namespaceId, groupName, serviceName }: ServiceName, ip?: string): string =>
  linkTo('service', { ns: namespaceId, group: groupName, name: serviceName, ...(ip ? { ip } : {}) })

function ConfigHit({ found }: { found: FoundConfig }) {
  const { namespaceId, group, dataId, hits } = found
  const href = linkToConfig({ tenant: namespaceId === 'public' ? '' : namespaceId, group, dataId })
  return (
    <Hit href={href} name={dataId} about={group} namespaceId={namespaceId}>
      <Hits hits={hits} />
    </Hit>
  )
}

function Hit(props: {
  readonly href: string
  readonly name: ComponentChildren
  readonly about?: string
  readonly namespaceId?: string
  readonly children?: ComponentChildren
}) {
  const { href, name, about, namespaceId, children } = props
  return (
    <li>
      <a class="choice" href={href} onClick={close}>
        <span dir="auto">{name}</span>
        {about !== undefined && (
          <span class="soft" dir="auto">
            {about}
          </span>
        )}
        {namespaceId !== undefined && <NamespaceMark id={namespaceId === 'public' ? '' : namespaceId} />}
      </a>
      {children}
    </li>
  )
}

function Section(props: {
  readonly title: string
  readonly count: number
  /** Whether there may be more than are counted. */
  readonly isOpenEnded?: boolean
  /** The address of the list with all matches. */
  readonly all?: string | undefined
  readonly children: ComponentChildren
}) {
  const { title, count, isOpenEnded = false, all, children } = props
  if (count === 0) return null
  return (
    <section>
      <h3>
        {title} <span class="soft">{isOpenEnded ? '' : shownNumber(count)}</span>
      </h3>
      <ul>{children}</ul>
      {all !== undefined && (
        <a class="see-all" href={all} onClick={close}>
          {t('seeAll')}
        </a>
      )}
    </section>
  )
}
