import { Ago } from '../controls/ago.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { Check } from '../controls/field.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { shownNumber, shownSize, t } from '../language/text.ts'
import { placeWith } from '../routing/link.ts'
import { go } from '../state/location.ts'
import type { ConfigFilter, ConfigOrder, ListedConfig } from '../server/configs.ts'
import { Hits } from './hits.tsx'
import { linkToConfig } from '../routing/key-of.ts'
import { Tags } from './tags.tsx'

interface TableProps {
  readonly items: readonly ListedConfig[]
  readonly ticked: ReadonlyMap<string, ListedConfig>
  readonly onTick: (ticked: ReadonlyMap<string, ListedConfig>) => void
  readonly filter: ConfigFilter
}

/** Configurations in rows, with the lines that were found. */
export function ConfigTable({ items, ticked, onTick, filter }: TableProps) {
  const isEverywhere = filter.namespaceId === '*'
  const tick = (these: readonly ListedConfig[], isOn: boolean): void => {
    const next = new Map(ticked)
    for (const item of these)
      if (isOn) next.set(item.id, item)
      else next.delete(item.id)
    onTick(next)
  }
  return (
    <table class={isEverywhere ? 'dense everywhere' : 'dense'}>
      <thead>
        <tr>
          <th class="tick">
            <Check
              label={t('chooseAll')}
              isHiddenLabel
              isOn={items.every(({ id }) => ticked.has(id))}
              onChange={(isOn) => tick(items, isOn)}
            />
          </th>
          <SortedBy filter={filter} order="dataId" label={t('dataId')} />
          {isEverywhere && <th>{t('namespace')}</th>}
          <SortedBy filter={filter} order="group" label={t('group')} more="not-phone" />
          <th class="not-narrow">{t('type')}</th>
          <th class="only-widest">{t('application')}</th>
          <SortedBy filter={filter} order="size" label={t('size')} more="number only-wide" />
          <th class="number not-phone">{t('watcherCount')}</th>
          <SortedBy filter={filter} order="modifyTime" label={t('changed')} more="not-phone" />
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <ConfigRow
            key={item.id}
            item={item}
            isEverywhere={isEverywhere}
            isTicked={ticked.has(item.id)}
            onTick={(isOn) => tick([item], isOn)}
          />
        ))}
      </tbody>
    </table>
  )
}

function SortedBy(props: {
  readonly filter: ConfigFilter
  readonly order: ConfigOrder
  readonly label: string
  readonly more?: string
}) {
  const { filter, order, label, more = '' } = props
  const isOwn = filter.sort === order
  const isDescending = filter.order === 'desc'
  const turned = isOwn ? { order: isDescending ? 'asc' : 'desc' } : { order: '' }
  const sorted = isOwn ? (isDescending ? 'descending' : 'ascending') : 'none'
  return (
    <th class={more} aria-sort={sorted}>
      <button
        type="button"
        class={isOwn && !isDescending ? 'sort up' : 'sort'}
        onClick={() => go(placeWith({ sort: order, ...turned, page: '' }), { replace: true })}
      >
        {label}
        {isOwn && <Icon name="down" />}
      </button>
    </th>
  )
}

function ConfigRow(props: {
  readonly item: ListedConfig
  readonly isEverywhere: boolean
  readonly isTicked: boolean
  readonly onTick: (isOn: boolean) => void
}) {
  const { item, isEverywhere, isTicked, onTick } = props
  return (
    <tr>
      <td class="tick">
        <Check label={t('choose', { name: item.dataId })} isHiddenLabel isOn={isTicked} onChange={onTick} />
      </td>
      <td class="name">
        <div class="name-line">
          <NameLink href={linkToConfig(item)} name={item.dataId} />
          <span class="not-phone">
            <CopyButton text={item.dataId} label={t('copyName', { name: item.dataId })} />
          </span>
          <Tags tags={item.configTags} />
          {item.desc !== '' && (
            <span class="soft description" dir="auto" title={item.desc}>
              {item.desc}
            </span>
          )}
        </div>
        <div class="only-phone below soft" dir="auto" title={item.group}>
          {item.group}
        </div>
        <Hits hits={item.hits} />
      </td>
      {isEverywhere && (
        <td>
          <NamespaceMark id={item.tenant} />
        </td>
      )}
      <td class="not-phone clip" dir="auto" title={item.group}>
        {item.group}
      </td>
      <td class="not-narrow">
        <span class="badge">{item.type.toUpperCase()}</span>
      </td>
      <td class="only-widest clip" dir="auto" title={item.appName}>
        {item.appName}
      </td>
      <td class="number only-wide">{shownSize(item.size)}</td>
      <td class="number not-phone">{shownNumber(item.watcherCount)}</td>
      <td class="not-phone clip">
        <Ago atMs={item.modifyTime} />
        {item.modifyUser !== null && (
          <span class="soft not-narrow" dir="auto">
            {' '}
            · {item.modifyUser}
          </span>
        )}
      </td>
    </tr>
  )
}
