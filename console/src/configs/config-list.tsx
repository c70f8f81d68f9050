import { useEffect, useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { Check, SelectField, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, ProblemNotice } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { shownSize, t } from '../language/text.ts'
import { linkTo, placeWith } from '../routing/link.ts'
import { go, place } from '../routing/location.ts'
import { CONFIG_TYPES, exportAddress, findConfigs, type ConfigItem, type Page } from '../server/configs.ts'
import { useLoaded } from '../state/loaded.ts'
import { currentNamespace } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWrite } from '../state/user.ts'
import { DeleteConfigs } from './delete-configs.tsx'
import { linkToConfig } from './key-of.ts'

const PAGE_SIZE = 50
const FILTERS = ['dataId', 'group', 'type', 'tag', 'app'] as const

/** The configurations of a namespace. What is looked for stands in the address, so that the way back finds it again. */
export function ConfigList() {
  const { params } = useStore(place)
  const namespaceId = currentNamespace()
  const pageNo = Number(params['page'] ?? '1') || 1
  const filter = {
    tenant: namespaceId,
    dataId: params['dataId'] ?? '',
    group: params['group'] ?? '',
    appName: params['app'] ?? '',
    configTags: params['tag'] ?? '',
    type: params['type'] ?? '',
    pageNo,
    pageSize: PAGE_SIZE,
  }
  const found = useLoaded(JSON.stringify(filter), () => findConfigs(filter))
  const last = useLast(found.value)
  const isFiltered = FILTERS.some((name) => params[name])
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
          {mayWrite(namespaceId) && (
            <a class="button primary" href={linkTo('config/new')}>
              <Icon name="plus" />
              {t('newConfig')}
            </a>
          )}
        </div>
      </div>
      <ConfigFilters params={params} isFiltered={isFiltered} />
      <ProblemNotice problem={found.problem} onRetry={found.reload} />
      {last === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <ConfigPage
          page={last}
          isBusy={found.isLoading}
          isFiltered={isFiltered}
          pageNo={pageNo}
          onChanged={found.reload}
        />
      )}
    </>
  )
}

/** The last page that there was: it stays on the screen while the next one is read. */
function useLast<T>(value: T | undefined): T | undefined {
  const [last, setLast] = useState<T | undefined>()
  useEffect(() => {
    if (value !== undefined) setLast(value)
  }, [value])
  return value ?? last
}

const WAIT_MS = 250

function ConfigFilters(props: {
  readonly params: Readonly<Record<string, string>>
  readonly isFiltered: boolean
}) {
  const { params, isFiltered } = props
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  useEffect(() => {
    if (Object.keys(typed).length === 0) return undefined
    const timer = setTimeout(() => {
      go(placeWith({ ...typed, page: '' }), { replace: true })
      setTyped({})
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const field = (name: (typeof FILTERS)[number], label: string, isWide = false) => (
    <TextField
      label={label}
      type="search"
      isWide={isWide}
      value={typed[name] ?? params[name] ?? ''}
      onInput={(value) => setTyped({ ...typed, [name]: value })}
    />
  )
  const types = CONFIG_TYPES.map((type) => [type, type.toUpperCase()] as const)
  return (
    <div class="filters" role="search">
      {field('dataId', t('dataId'), true)}
      {field('group', t('group'))}
      <SelectField
        label={t('type')}
        value={params['type'] ?? ''}
        choices={[['', t('all')], ...types]}
        onChange={(type) => go(placeWith({ type, page: '' }), { replace: true })}
      />
      {field('tag', t('tag'))}
      {field('app', t('application'))}
      {isFiltered && (
        <button
          type="button"
          class="button quiet"
          onClick={() =>
            go(placeWith(Object.fromEntries(FILTERS.map((name) => [name, '']))), { replace: true })
          }
        >
          {t('clear')}
        </button>
      )}
    </div>
  )
}

function ConfigPage(props: {
  readonly page: Page<ConfigItem>
  readonly pageNo: number
  readonly isBusy: boolean
  readonly isFiltered: boolean
  readonly onChanged: () => void
}) {
  const { page, pageNo, isBusy, isFiltered, onChanged } = props
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const items = page.pageItems
  if (items.length === 0)
    return (
      <div class="card">
        <Nothing text={isFiltered ? t('nothingFound') : t('noConfigs')} />
      </div>
    )
  const chosen = items.filter(({ id }) => ticked.has(id))
  return (
    <>
      {chosen.length > 0 && (
        <BatchBar
          chosen={chosen}
          onDone={() => {
            setTicked(new Set())
            onChanged()
          }}
        />
      )}
      <div class="card table-card" aria-busy={isBusy}>
        {isBusy && <div class="busy-line" />}
        <ConfigTable items={items} ticked={ticked} onTick={setTicked} />
      </div>
      <Pager
        pageNo={pageNo}
        pageSize={PAGE_SIZE}
        total={page.totalCount}
        onGo={(next) => go(placeWith({ page: String(next) }))}
      />
    </>
  )
}

function BatchBar({ chosen, onDone }: { chosen: readonly ConfigItem[]; onDone: () => void }) {
  const [isDeleting, setDeleting] = useState(false)
  const { tenant } = chosen[0]!
  return (
    <div class="buttons filters">
      <strong>{t('chosen', { count: chosen.length })}</strong>
      <a
        class="button small"
        download
        href={exportAddress(
          tenant,
          chosen.map(({ id }) => id),
        )}
      >
        {t('exportChosen')}
      </a>
      {mayWrite(tenant) && (
        <button type="button" class="button small danger-quiet" onClick={() => setDeleting(true)}>
          <Icon name="trash" />
          {t('delete')}
        </button>
      )}
      {isDeleting && <DeleteConfigs items={chosen} onClose={() => setDeleting(false)} onDone={onDone} />}
    </div>
  )
}

function ConfigTable(props: {
  readonly items: readonly ConfigItem[]
  readonly ticked: ReadonlySet<string>
  readonly onTick: (ticked: ReadonlySet<string>) => void
}) {
  const { items, ticked, onTick } = props
  const areAll = items.every(({ id }) => ticked.has(id))
  const tick = (ids: readonly string[], isOn: boolean): void => {
    const next = new Set(ticked)
    for (const id of ids)
      if (isOn) next.add(id)
      else next.delete(id)
    onTick(next)
  }
  return (
    <table>
      <thead>
        <tr>
          <th class="tick">
            <Check
              label={t('chooseAll')}
              isHiddenLabel
              isOn={areAll}
              onChange={(isOn) =>
                tick(
                  items.map(({ id }) => id),
                  isOn,
                )
              }
            />
          </th>
          <th>{t('dataId')}</th>
          <th class="not-phone">{t('group')}</th>
          <th>{t('type')}</th>
          <th class="not-phone">{t('application')}</th>
          <th class="number not-phone">{t('size')}</th>
          <th class="not-phone">{t('changed')}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            <td class="tick">
              <Check
                label={t('choose', { name: item.dataId })}
                isHiddenLabel
                isOn={ticked.has(item.id)}
                onChange={(isOn) => tick([item.id], isOn)}
              />
            </td>
            <td class="name">
              <div class="meter">
                <a href={linkToConfig(item)} dir="auto">
                  {item.dataId}
                </a>
                <span class="not-phone">
                  <CopyButton text={item.dataId} label={t('copyName', { name: item.dataId })} />
                </span>
              </div>
              <div class="only-phone soft">{item.group}</div>
              {item.desc !== '' && <div class="soft clamp">{item.desc}</div>}
              <Tags tags={item.configTags} />
            </td>
            <td class="not-phone" dir="auto">
              {item.group}
            </td>
            <td>
              <span class="badge">{item.type.toUpperCase()}</span>
            </td>
            <td class="not-phone" dir="auto">
              {item.appName}
            </td>
            <td class="number not-phone">{shownSize(new Blob([item.content]).size)}</td>
            <td class="not-phone">
              <Ago atMs={item.modifyTime} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The tags of an item. */
export function Tags({ tags }: { tags: string }) {
  const each = tags.split(',').filter((tag) => tag !== '')
  if (each.length === 0) return null
  return (
    <div class="tags">
      {each.map((tag) => (
        <span key={tag} class="badge accent" dir="auto">
          {tag}
        </span>
      ))}
    </div>
  )
}
