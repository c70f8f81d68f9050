import { useEffect, useState } from 'preact/hooks'
import { Check, SelectField } from '../controls/field.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo, placeWith } from '../routing/link.ts'
import { go, place } from '../state/location.ts'
import { compareNamespaces, type Comparison } from '../server/compare.ts'
import { within } from '../live/meant.ts'
import type { ConfigName } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import {
  currentNamespace,
  namespaceName,
  namespaceParam,
  namespaces,
  refreshNamespaces,
} from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWriteConfig, mayWriteConfigs } from '../state/user.ts'
import { GrayOnlySides } from '../gray/gray-only-sides.tsx'
import { CompareTexts } from './compare-texts.tsx'
import { linkToConfig } from '../routing/key-of.ts'
import { PromoteKeys } from './promote-keys.tsx'
import { PromoteDialog, type Promoted } from './promote-dialog.tsx'

/** Two namespaces side by side, and what to bring from one to the other. */
export function CompareView() {
  const { params } = useStore(place)
  const all = useStore(namespaces) ?? []
  useEffect(() => void refreshNamespaces().catch(tellProblem), [])
  const from = currentNamespace()
  const chosen = params['to'] === 'public' ? '' : params['to']
  const to = chosen ?? all.find(({ id }) => id !== from)?.id ?? from
  const choices = all.map(({ id, name }) => [namespaceParam(id), name] as const)
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('compare')}</h1>
          <p class="soft">{t('compareText')}</p>
        </div>
      </div>
      <div class="filters">
        <SelectField
          label={t('compareFrom')}
          value={namespaceParam(from)}
          choices={choices}
          onChange={(ns) => go(placeWith({ ns, to: namespaceParam(to), page: '' }))}
        />
        <SelectField
          label={t('compareTo')}
          value={namespaceParam(to)}
          choices={choices}
          onChange={(id) => go(placeWith({ to: id, page: '' }))}
        />
        <button
          type="button"
          class="button icon"
          aria-label={`${namespaceName(to)} → ${namespaceName(from)}`}
          onClick={() => go(placeWith({ ns: namespaceParam(to), to: namespaceParam(from), page: '' }))}
        >
          <Icon name="compare" />
        </button>
      </div>
      {all.length === 1 ? (
        <div class="card">
          <Nothing text={t('oneNamespace')}>
            <a class="button" href={linkTo('namespaces')}>
              {t('namespaces')}
            </a>
          </Nothing>
        </div>
      ) : from === to ? (
        <Notice kind="plain">{t('pickTwo')}</Notice>
      ) : (
        <Compared from={from} to={to} />
      )}
    </>
  )
}

/** All rows are here, and one page is drawn at a time. */
const PAGE_SIZE = 200

/** A row of the comparison. */
interface ComparedRow extends Promoted {
  readonly kind: 'onlyInFrom' | 'onlyInTo' | 'differs'
}

function rowsOf({ onlyInFrom, onlyInTo, different }: Comparison): ComparedRow[] {
  return [
    ...different.map((item) => ({ ...item, kind: 'differs' as const, casMd5: item.toMd5 })),
    ...onlyInFrom.map((item) => ({ ...item, kind: 'onlyInFrom' as const, casMd5: '', fromMd5: item.md5 })),
    ...onlyInTo.map((item) => ({ ...item, kind: 'onlyInTo' as const, casMd5: item.md5, fromMd5: '' })),
  ]
}

function Compared({ from, to }: { from: string; to: string }) {
  const found = useLoaded(
    JSON.stringify([from, to]),
    () => compareNamespaces(from, to),
    within('config', from, to),
  )
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [isPromoting, setPromoting] = useState(false)
  const rows = found.value === undefined ? [] : rowsOf(found.value)
  const pageNo = Number(place.value.params['page'] ?? '1') || 1
  const shown = rows.slice((pageNo - 1) * PAGE_SIZE, pageNo * PAGE_SIZE)
  const bringable = rows.filter((row) => mayBring(row, to))
  const chosen = bringable.filter(({ id }) => ticked.has(id))
  return (
    <>
      <LoadProblem found={found} />
      {found.value === undefined && found.problem === undefined && <p class="loading">{t('loading')}</p>}
      {found.value && (
        <>
          <div class="head">
            <p class="title soft">{t('compareSame', { count: shownNumber(found.value.equal) })}</p>
            {mayWriteConfigs(to) && bringable.length > PAGE_SIZE && (
              <button
                type="button"
                class="button"
                onClick={() =>
                  setTicked(new Set(chosen.length < bringable.length ? bringable.map(({ id }) => id) : []))
                }
              >
                {chosen.length < bringable.length
                  ? t('tickAll', { count: shownNumber(bringable.length) })
                  : t('tickNone')}
              </button>
            )}
            {mayWriteConfigs(to) && (
              <button
                type="button"
                class="button primary"
                disabled={chosen.length === 0}
                onClick={() => setPromoting(true)}
              >
                {t('promote', { name: namespaceName(to) })}
              </button>
            )}
          </div>
          {found.value.truncated && <Notice kind="warn">{t('searchTruncated')}</Notice>}
          <div class="card table-card">
            {rows.length === 0 ? (
              <Nothing text={t('noDifference')} />
            ) : (
              <RowTable {...{ ticked, from, to }} rows={shown} onTick={setTicked} onChanged={found.reload} />
            )}
          </div>
          <Pager
            pageNo={pageNo}
            pageSize={PAGE_SIZE}
            total={rows.length}
            onGo={(next) => go(placeWith({ page: String(next) }))}
          />
          <GrayOnlySides found={found.value} from={from} to={to} />
        </>
      )}
      {isPromoting && (
        <PromoteDialog
          rows={chosen}
          to={to}
          onClose={() => setPromoting(false)}
          onDone={() => {
            setTicked(new Set())
            found.reload()
          }}
        />
      )}
    </>
  )
}

/** Whether the user may bring a row to the other namespace. */
const mayBring = (row: ComparedRow, to: string): boolean =>
  row.kind !== 'onlyInTo' && mayWriteConfig(nameIn(row, to))

const nameIn = ({ group, dataId }: ComparedRow, tenant: string): ConfigName => ({ tenant, group, dataId })

function RowTable(props: {
  readonly rows: readonly ComparedRow[]
  readonly ticked: ReadonlySet<string>
  readonly from: string
  readonly to: string
  readonly onTick: (ticked: ReadonlySet<string>) => void
  readonly onChanged: () => void
}) {
  const { rows, ticked, from, to, onTick } = props
  const [compared, setCompared] = useState<ComparedRow | undefined>()
  const [byKey, setByKey] = useState<ComparedRow | undefined>()
  const tickable = rows.filter((row) => mayBring(row, to)).map(({ id }) => id)
  const tick = (ids: readonly string[], isOn: boolean): void => {
    const next = new Set(ticked)
    for (const id of ids)
      if (isOn) next.add(id)
      else next.delete(id)
    onTick(next)
  }
  const kinds = {
    differs: [t('differs'), 'warn'],
    onlyInFrom: [t('onlyInFrom', { name: namespaceName(from) }), 'accent'],
    onlyInTo: [t('onlyInTo', { name: namespaceName(to) }), ''],
  } as const
  return (
    <>
      <table class="dense">
        <thead>
          <tr>
            <th class="tick">
              {tickable.length > 0 && (
                <Check
                  label={t('chooseAll')}
                  isHiddenLabel
                  isOn={tickable.every((id) => ticked.has(id))}
                  onChange={(isOn) => tick(tickable, isOn)}
                />
              )}
            </th>
            <th>{t('dataId')}</th>
            <th>{t('group')}</th>
            <th>{t('state')}</th>
            <th class="actions">
              <span class="hidden">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td class="tick">
                {mayBring(row, to) && (
                  <Check
                    label={t('choose', { name: row.dataId })}
                    isHiddenLabel
                    isOn={ticked.has(row.id)}
                    onChange={(isOn) => tick([row.id], isOn)}
                  />
                )}
              </td>
              <td class="name">
                <div class="name-line">
                  <NameLink
                    href={linkToConfig({ ...row, tenant: row.kind === 'onlyInTo' ? to : from })}
                    name={row.dataId}
                  />
                </div>
              </td>
              <td class="clip" dir="auto" title={row.group}>
                {row.group}
              </td>
              <td>
                <span class={`badge ${kinds[row.kind][1]}`}>{kinds[row.kind][0]}</span>
              </td>
              <RowActions
                row={row}
                mayBring={row.kind === 'differs' && mayBring(row, to)}
                onCompare={() => setCompared(row)}
                onByKey={() => setByKey(row)}
              />
            </tr>
          ))}
        </tbody>
      </table>
      {byKey && (
        <PromoteKeys
          from={nameIn(byKey, from)}
          to={nameIn(byKey, to)}
          onClose={() => setByKey(undefined)}
          onDone={props.onChanged}
        />
      )}
      {compared && (
        <CompareTexts
          from={compared.kind === 'onlyInTo' ? undefined : { ...compared, tenant: from }}
          to={compared.kind === 'onlyInFrom' ? undefined : { ...compared, tenant: to }}
          titles={[namespaceName(to), namespaceName(from)]}
          title={compared.dataId}
          onClose={() => setCompared(undefined)}
        />
      )}
    </>
  )
}

function RowActions(props: {
  readonly row: ComparedRow
  readonly mayBring: boolean
  readonly onCompare: () => void
  readonly onByKey: () => void
}) {
  const { row, mayBring, onCompare, onByKey } = props
  return (
    <td class="actions">
      <div class="buttons">
        <button type="button" class="button small" onClick={onCompare}>
          {t('difference')}
        </button>
        {mayBring && (
          <button
            type="button"
            class="button small"
            aria-label={`${t('byKey')}: ${row.dataId}`}
            onClick={onByKey}
          >
            {t('byKey')}
          </button>
        )}
      </div>
    </td>
  )
}
