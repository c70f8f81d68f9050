import { Check } from '../controls/field.tsx'
import { Written } from '../controls/written.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import type { Keys } from '../../../src/formats/changed-keys.ts'
import { loadEditor } from '../editor/code-view.tsx'
import { sayFinding } from '../editor/phrases.ts'
import { shownNumber, t } from '../language/text.ts'
import { placeWith } from '../routing/link.ts'
import { go, place } from '../state/location.ts'
import { type ConfigItem, type ConfigName, findConfigs, readConfig } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { type KeyRow, keyRows } from './key-rows.ts'
import { linkToConfig } from '../routing/key-of.ts'
import { formatOf } from '../publishing/format-of.ts'

const MOST_FOUND = 500
const MOST_COLUMNS = 12
/** More keys are counted only. */
const MOST_ROWS = 500

/** One item in every namespace that has it: a row for each key, a column for each namespace. */
export function AcrossNamespaces({ name }: { name: ConfigName }) {
  const found = useLoaded(JSON.stringify(name), () => readEverywhere(name))
  return (
    <>
      <p class="soft">{t('acrossText')}</p>
      <LoadProblem found={found} />
      {found.value === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <Found {...found.value} />
      )}
    </>
  )
}

/** The item of a namespace, with its keys. */
interface Column {
  readonly item: ConfigItem
  /** Undefined where its format has no keys. */
  readonly keys: Keys | undefined
}

/** A column whose keys are known. */
interface KeyColumn {
  readonly item: ConfigItem
  readonly keys: Extract<Keys, { keys: unknown }>
}

interface Everywhere {
  readonly columns: readonly Column[]
  /** How many namespaces have it. */
  readonly count: number
}

/** The own namespace comes first. */
async function readEverywhere(name: ConfigName): Promise<Everywhere> {
  const { dataId, group, tenant } = name
  const filter = { namespaceId: '*', text: dataId, group, content: '', key: '', type: '' }
  const order = { sort: 'dataId', order: 'asc', pageNo: 1, pageSize: MOST_FOUND } as const
  const { pageItems } = await findConfigs({ ...filter, ...order })
  const own = pageItems.filter((item) => item.dataId === dataId && item.group === group)
  const sorted = own.toSorted((a, b) => Number(b.tenant === tenant) - Number(a.tenant === tenant))
  const editor = await loadEditor()
  const columns = await Promise.all(
    sorted.slice(0, MOST_COLUMNS).map(async (one): Promise<Column> => {
      const item = await readConfig(one)
      return { item, keys: await editor.keysOf(formatOf(item.type, item.dataId), item.content) }
    }),
  )
  return { columns, count: own.length }
}

function Found({ columns, count }: Everywhere) {
  const isAll = place.value.params['all'] === 'yes'
  const readable = columns.flatMap(({ item, keys }): KeyColumn[] =>
    keys !== undefined && 'keys' in keys ? [{ item, keys }] : [],
  )
  const rows = keyRows(readable.map(({ keys }) => keys.keys))
  const differing = rows.filter(({ differs }) => differs)
  return (
    <>
      {count > columns.length && (
        <Notice kind="plain">
          {t('acrossFirst', { count: shownNumber(columns.length), all: shownNumber(count) })}
        </Notice>
      )}
      {columns.some(({ keys }) => keys === undefined) && <Notice kind="plain">{t('acrossNoKeys')}</Notice>}
      {columns.map(
        ({ item, keys }) =>
          keys !== undefined &&
          'why' in keys && (
            <Notice key={item.tenant} kind="warn">
              <NamespaceMark id={item.tenant} /> {t('noKeys', { text: sayFinding(keys.why) })}
            </Notice>
          ),
      )}
      <div class="filters">
        <strong>
          {t('differingKeys', { count: shownNumber(differing.length), all: shownNumber(rows.length) })}
        </strong>
        <Check
          label={t('showAllKeys')}
          isOn={isAll}
          onChange={(isOn) => go(placeWith({ all: isOn ? 'yes' : '' }), { replace: true })}
        />
      </div>
      <div class="card table-card" tabIndex={0}>
        <KeyTable columns={columns} readable={readable} rows={isAll ? rows : differing} />
      </div>
    </>
  )
}

function KeyTable(props: {
  readonly columns: readonly Column[]
  readonly readable: readonly KeyColumn[]
  readonly rows: readonly KeyRow[]
}) {
  const { columns, readable, rows } = props
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>{t('inKeys')}</th>
            {columns.map(({ item }) => (
              <th key={item.tenant}>
                <a href={linkToConfig(item)}>
                  <NamespaceMark id={item.tenant} />
                </a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ key, values, differs }) => (
            <tr key={key}>
              <td class="name">
                <strong dir="auto">{key}</strong> {differs && <span class="badge warn">{t('differs')}</span>}
              </td>
              {columns.map((column) => (
                <td key={column.item.tenant}>
                  <Written
                    text={values[readable.findIndex(({ item }) => item === column.item)]}
                    isSecret={readable.some(({ keys }) => keys.secret.has(key))}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p class="soft about">{t('andMore', { count: shownNumber(rows.length - MOST_ROWS) })}</p>
      )}
      {rows.length === 0 && <Nothing text={t('noDifferingKeys')} />}
    </>
  )
}
