import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Coded } from '../controls/coded.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { tell, tellProblem } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo, placeWith, turnTo } from '../routing/link.ts'
import { addressOf, go, place } from '../state/location.ts'
import {
  type ConfigFilter,
  type ConfigOrder,
  type ConfigPage as Page,
  findConfigs,
  type ListedConfig,
} from '../server/configs.ts'
import { type IsMeant, ofConfig, within } from '../live/meant.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { currentNamespace, namespaceName } from '../state/namespaces.ts'
import { keepPageSize, pageSize } from '../state/page-size.ts'
import { useStore } from '../state/store.ts'
import { mayWriteAnywhere, mayWriteConfig, mayWriteConfigs } from '../state/user.ts'
import { ExportButton, ExportLink } from '../gray/export-link.tsx'
import { GrayOnlyTable } from '../gray/gray-only-table.tsx'
import { ConfigFilters, FILTERS } from './config-filters.tsx'
import { CloneDialog } from './clone-dialog.tsx'
import { CompareTexts } from './compare-texts.tsx'
import { ConfigTable } from './config-table.tsx'
import { ConnectButton } from '../connect/connect-button.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { DeleteConfigs } from './delete-configs.tsx'
import { MissingServers } from './watchers.tsx'

const ORDERS: readonly ConfigOrder[] = ['modifyTime', 'dataId', 'group', 'size']

/** The configurations of a namespace. The search is in the address, so that the way back finds it again. */
export function ConfigList() {
  const { params } = useStore(place)
  const namespaceId = currentNamespace()
  // An import may be asked for by the address.
  const [isImporting, setImporting] = useState(params['import'] === 'yes' && mayWriteConfigs(namespaceId))
  const endImport = (): void => {
    setImporting(false)
    if (params['import'] === 'yes') go(placeWith({ import: '' }), { replace: true })
  }
  const filter = filterOf(params, namespaceId)
  const isInList = within('config', filter.namespaceId)
  // Only changes of watchers of items on this page matter: it shows their number.
  const onPage = useRef<readonly ListedConfig[]>([])
  const isOnPage: IsMeant = (event) => onPage.current.some((item) => ofConfig(item, 'watchers')(event))
  const found = useLoaded(
    JSON.stringify(filter),
    () => findConfigs(filter),
    (event) => isInList(event) || isOnPage(event),
  )
  const shown = useShown(filter.namespaceId, found, filter)
  const last = shown?.value
  onPage.current = last?.pageItems ?? []
  const isFiltered = FILTERS.some((name) => params[name])
  const isEmpty = last?.totalCount === 0 && last.grayOnlyCount === 0 && !isFiltered
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('configs')}</h1>
        </div>
        <div class="buttons">
          <button type="button" class="button icon" aria-label={t('refresh')} onClick={found.reload}>
            <Icon name="refresh" />
          </button>
          <ExportLink class="button" tenant={namespaceId}>
            {t('exportAll')}
          </ExportLink>
          {mayWriteConfigs(namespaceId) && (
            <button type="button" class="button" onClick={() => setImporting(true)}>
              {t('import')}
            </button>
          )}
          {mayWriteConfigs(namespaceId) && (
            // An empty list has a primary button of its own.
            <a class={isEmpty ? 'button' : 'button primary'} href={linkTo('config/new')}>
              <Icon name="plus" />
              {t('newConfig')}
            </a>
          )}
        </div>
      </div>
      {isImporting && <ImportDialog tenant={namespaceId} onClose={endImport} onDone={found.reload} />}
      <ConfigFilters params={params} isFiltered={isFiltered} />
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {last?.truncated === true && (
        <div class="banner">
          <Notice kind="warn">{last.next === null ? t('searchTruncated') : t('searchPartly')}</Notice>
          {last.next !== null && (
            <a class="button small" href={addressOf(placeWith({ after: last.next, page: '' }))}>
              {t('searchOn')}
            </a>
          )}
        </div>
      )}
      {last && <MissingServers names={last.missingServers} />}
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <ConfigPage
          page={shown.value}
          isBusy={found.isLoading}
          isFiltered={isFiltered}
          filter={shown.asked}
          onChanged={found.reload}
          onImport={() => setImporting(true)}
        />
      )}
    </>
  )
}

function filterOf(params: Readonly<Record<string, string>>, namespaceId: string): ConfigFilter {
  const sort = ORDERS.find((order) => order === params['sort']) ?? 'modifyTime'
  const isUsual = params['order'] !== 'asc' && params['order'] !== 'desc'
  const usual = sort === 'modifyTime' || sort === 'size' ? 'desc' : 'asc'
  return {
    namespaceId: params['everywhere'] === 'yes' ? '*' : namespaceId,
    text: params['text'] ?? '',
    content: params['content'] ?? '',
    key: params['key'] ?? '',
    ...(params['group'] ? { group: params['group'] } : {}),
    tag: params['tag'] ?? '',
    type: params['type'] ?? '',
    sort,
    order: isUsual ? usual : (params['order'] as 'asc' | 'desc'),
    ...(params['after'] ? { after: params['after'] } : {}),
    pageNo: Number(params['page'] ?? '1') || 1,
    pageSize: pageSize(),
  }
}

/** The text of an empty list: its purpose, and how to fill it. */
function NoConfigs({ namespaceId, onImport }: { namespaceId: string; onImport: () => void }) {
  if (namespaceId === '*') return <Nothing text={t('noConfigsAnywhere')} />
  const isWriter = mayWriteConfigs(namespaceId)
  return (
    <Nothing text={t('emptyConfigs', { name: namespaceName(namespaceId) })}>
      <div class="buttons">
        {isWriter && (
          <a class="button primary" href={linkTo('config/new')}>
            {t('publishFirst')}
          </a>
        )}
        {isWriter && (
          <button type="button" class="button" onClick={onImport}>
            {t('importFile')}
          </button>
        )}
        <ConnectButton
          namespaceId={namespaceId}
          about={{ kind: 'config', group: 'DEFAULT_GROUP', dataId: 'application.yaml' }}
        />
      </div>
      {isWriter && (
        <p class="soft">
          <Coded text={t('moveHint')} />
        </p>
      )}
    </Nothing>
  )
}

type Ticked = ReadonlyMap<string, ListedConfig>

function ConfigPage(props: {
  readonly page: Page
  readonly filter: ConfigFilter
  readonly isBusy: boolean
  readonly isFiltered: boolean
  readonly onChanged: () => void
  readonly onImport: () => void
}) {
  const { page, filter, isBusy, isFiltered, onChanged } = props
  // Ticked items stay on other pages, and in another order, of the same search.
  const search = JSON.stringify({ ...filter, pageNo: 0, pageSize: 0, sort: '', order: '' })
  const [ticked, setTicked] = useState<Ticked>(new Map())
  useEffect(() => setTicked(new Map()), [search])
  const items = page.pageItems
  if (items.length === 0 && page.grayOnly.length === 0)
    return (
      <div class="card">
        {isFiltered ? (
          <Nothing text={t('nothingFound')} />
        ) : (
          <NoConfigs namespaceId={filter.namespaceId} onImport={props.onImport} />
        )}
      </div>
    )
  // The newest that is known of each.
  const onPage = new Map(items.map((item) => [item.id, item]))
  const chosen = Array.from(ticked, ([id, item]) => onPage.get(id) ?? item)
  const clear = (): void => setTicked(new Map())
  const done = (): void => {
    clear()
    onChanged()
  }
  return (
    <>
      {items.length > 0 && (
        <div class="card table-card" aria-busy={isBusy}>
          {isBusy && <div class="busy-line" />}
          <ConfigTable {...{ items, ticked, filter }} onTick={setTicked} />
        </div>
      )}
      {chosen.length > 0 && (
        <BatchBar chosen={chosen} onDone={done}>
          <SelectAll {...{ filter, chosen }} total={page.totalCount} onAll={setTicked} />
          <button type="button" class="button quiet small" onClick={clear}>
            {t('selectNone')}
          </button>
        </BatchBar>
      )}
      <GrayOnlyTable page={page} isEverywhere={filter.namespaceId === '*'} />
      <Pager
        pageNo={filter.pageNo}
        pageSize={filter.pageSize}
        total={page.totalCount}
        longest={Math.max(page.totalCount, page.grayOnlyCount)}
        onGo={(next) => turnTo(next, onChanged)}
        onSize={(size) => {
          keepPageSize(size)
          go(placeWith({ size: String(size), page: '' }), { replace: true })
        }}
      />
    </>
  )
}

/** The most items that one selection may have. */
const MOST_SELECTED = 5_000
const READ_AT_ONCE = 500

/** Selects everything that matches, on other pages too. */
function SelectAll(props: {
  readonly filter: ConfigFilter
  readonly chosen: readonly ListedConfig[]
  readonly total: number
  readonly onAll: (ticked: Ticked) => void
}) {
  const { filter, chosen, total, onAll } = props
  const [isBusy, setBusy] = useState(false)
  if (total <= chosen.length || total <= filter.pageSize) return null
  const all = async (): Promise<void> => {
    const found = new Map<string, ListedConfig>()
    for (let pageNo = 1; found.size < Math.min(total, MOST_SELECTED); pageNo++) {
      const { pageItems } = await findConfigs({ ...filter, pageNo, pageSize: READ_AT_ONCE })
      if (pageItems.length === 0) break
      for (const item of pageItems) found.set(item.id, item)
    }
    onAll(found)
    if (found.size < total) tell(t('selectedTooMany', { count: shownNumber(found.size) }))
  }
  const run = (): void => {
    setBusy(true)
    void all()
      .catch(tellProblem)
      .finally(() => setBusy(false))
  }
  return (
    <button type="button" class="button quiet small" disabled={isBusy} onClick={run}>
      {t('selectAllHits', { count: shownNumber(total) })}
    </button>
  )
}

type OpenDialog = 'delete' | 'clone' | 'compare' | undefined

/** The actions for the ticked items. It stays at the lower end of the screen: no row moves. */
function BatchBar(props: {
  readonly chosen: readonly ListedConfig[]
  readonly onDone: () => void
  readonly children: ComponentChildren
}) {
  const { chosen, onDone } = props
  const [open, setOpen] = useState<OpenDialog>()
  const close = (): void => setOpen(undefined)
  const { tenant } = chosen[0]!
  // A zip file holds one namespace.
  const areOfOne = chosen.every((item) => item.tenant === tenant)
  return (
    <div class="buttons batch-bar">
      <strong role="status">{t('chosen', { count: shownNumber(chosen.length) })}</strong>
      {props.children}
      <span class="space" />
      {areOfOne && (
        <ExportButton class="button small" tenant={tenant} ids={chosen.map(({ id }) => id)}>
          {t('exportChosen')}
        </ExportButton>
      )}
      {chosen.length === 2 && (
        <button type="button" class="button small" onClick={() => setOpen('compare')}>
          {t('compareTwo')}
        </button>
      )}
      {mayWriteAnywhere() && (
        <button type="button" class="button small" onClick={() => setOpen('clone')}>
          {t('clone')}
        </button>
      )}
      {chosen.every(mayWriteConfig) && (
        <button type="button" class="button small danger-quiet" onClick={() => setOpen('delete')}>
          <Icon name="trash" />
          {t('delete')}
        </button>
      )}
      {open === 'delete' && <DeleteConfigs items={chosen} onClose={close} onDone={onDone} />}
      {open === 'clone' && <CloneDialog items={chosen} onClose={close} onDone={onDone} />}
      {open === 'compare' && <CompareTwo chosen={chosen} onClose={close} />}
    </div>
  )
}

/** The two that are chosen, the older one left. */
function CompareTwo(props: { readonly chosen: readonly ListedConfig[]; readonly onClose: () => void }) {
  const [to, from] = props.chosen.toSorted((a, b) => a.modifyTime - b.modifyTime)
  if (to === undefined || from === undefined) return null
  const isSameName = to.dataId === from.dataId && to.group === from.group
  const titleOf = ({ tenant, group, dataId }: ListedConfig): string =>
    [namespaceName(tenant), group, dataId].join(' / ')
  return (
    <CompareTexts
      from={from}
      to={to}
      title={isSameName ? to.dataId : `${to.dataId} – ${from.dataId}`}
      titles={[titleOf(to), titleOf(from)]}
      onClose={props.onClose}
    />
  )
}
