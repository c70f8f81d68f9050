import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, problemTitle } from '../controls/notice.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tellUndoable } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import {
  type ConfigName,
  deleteConfig,
  findVersions,
  readWatchers,
  restoreVersion,
} from '../server/configs.ts'
import { problemOf } from '../server/problem.ts'
import { useLoaded } from '../live/loaded.ts'
import { refreshNamespaces } from '../state/namespaces.ts'

const SHOWN_ROWS = 100

type Item = ConfigName & { readonly id: string; readonly md5: string }

/**
 * Shows what will be deleted, and deletes it where nobody has changed it since: the md5 that is shown is
 * sent. Items that could not be deleted stay on the list, with the reason.
 */
export function DeleteConfigs(props: {
  readonly items: readonly Item[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { onClose, onDone } = props
  const [left, setLeft] = useState(props.items)
  const [reasons, setReasons] = useState<ReadonlyMap<string, string>>(new Map())
  const remove = async (): Promise<void> => {
    for (const tenant of new Set(left.map((item) => item.tenant))) if (!(await confirmWrite(tenant))) return
    const failed = new Map<string, string>()
    for (const item of left)
      await deleteConfig(item, item.md5).catch((error: unknown) =>
        failed.set(item.id, problemTitle(problemOf(error))),
      )
    void refreshNamespaces().catch(() => undefined)
    const deleted = left.filter(({ id }) => !failed.has(id))
    if (deleted.length > 0)
      tellUndoable(t('configsDeleted', { count: shownNumber(deleted.length) }), () => bringBack(deleted))
    setLeft(left.filter(({ id }) => failed.has(id)))
    setReasons(failed)
    if (failed.size === 0) close()
  }
  const hasDeleted = left.length < props.items.length
  const close = (): void => {
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={
        left.length === 1
          ? t('deleteOne', { name: left[0]!.dataId })
          : t('deleteConfigs', { count: shownNumber(left.length) })
      }
      done={t('delete')}
      onClose={hasDeleted ? close : onClose}
      onDo={remove}
    >
      <ListeningClients items={left} />
      <p>{t('deleteConfigsText')}</p>
      <div class="card table-card" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t('dataId')}</th>
              <th>{t('group')}</th>
              <th>{t('namespace')}</th>
            </tr>
          </thead>
          <tbody>
            {left.slice(0, SHOWN_ROWS).map((item) => (
              <tr key={item.id}>
                <td dir="auto">
                  {item.dataId}
                  {reasons.has(item.id) && <div class="wrong">{reasons.get(item.id)}</div>}
                </td>
                <td dir="auto">{item.group}</td>
                <td>
                  <NamespaceMark id={item.tenant} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left.length > SHOWN_ROWS && <p>{t('andMore', { count: shownNumber(left.length - SHOWN_ROWS) })}</p>}
      <p class="soft">{t('deleteConfigsHistory')}</p>
    </Confirm>
  )
}

/** Items whose clients are counted before they are deleted. */
const MOST_COUNTED = 50

/** Says how many clients still use what is about to be deleted. */
function ListeningClients({ items }: { items: readonly Item[] }) {
  const counted = items.slice(0, MOST_COUNTED)
  const found = useLoaded(JSON.stringify(counted.map(({ id }) => id)), () =>
    Promise.all(counted.map(async (item) => (await readWatchers(item)).count)),
  )
  const listened = found.value?.filter((count) => count > 0) ?? []
  const clients = listened.reduce((sum, count) => sum + count, 0)
  if (clients === 0) return null
  return (
    <Notice kind="warn">
      {items.length === 1
        ? t('deleteOneListened', { clients: shownNumber(clients) })
        : t('deleteListened', { clients: shownNumber(clients), items: shownNumber(listened.length) })}
    </Notice>
  )
}

/** Publishes again what was deleted; an item that somebody has made meanwhile is left alone. */
async function bringBack(items: readonly Item[]): Promise<void> {
  for (const item of items) {
    const [last] = (await findVersions(item, { pageNo: 1, pageSize: 1 })).pageItems
    if (last?.op !== 'D') continue
    await restoreVersion(item, last.historyId, { casMd5: '', comment: t('undoneDelete') })
  }
  void refreshNamespaces().catch(() => undefined)
}
