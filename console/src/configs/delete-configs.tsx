import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { problemTitle } from '../controls/notice.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { deleteConfig, type ConfigName } from '../server/configs.ts'
import { problemOf } from '../server/problem.ts'
import { refreshNamespaces } from '../state/namespaces.ts'

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
    if (failed.size < left.length) tell(t('configsDeleted', { count: left.length - failed.size }))
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
      title={t('deleteConfigs', { count: left.length })}
      done={t('delete')}
      onClose={hasDeleted ? close : onClose}
      onDo={remove}
    >
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
            {left.map((item) => (
              <tr key={item.id}>
                <td dir="auto">
                  {item.dataId}
                  <div class="soft">
                    <code>{item.md5}</code>
                  </div>
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
      <p class="soft">{t('deleteConfigsHistory')}</p>
    </Confirm>
  )
}
