import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { deleteConfig, type ConfigName } from '../server/configs.ts'
import { refreshNamespaces } from '../state/namespaces.ts'

/** Shows what will be deleted, and deletes it where nobody has changed it since. */
export function DeleteConfigs(props: {
  readonly items: readonly (ConfigName & { readonly id: string; readonly md5: string })[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { items, onClose, onDone } = props
  const remove = async (): Promise<void> => {
    for (const item of items) await deleteConfig(item, item.md5)
    void refreshNamespaces().catch(() => undefined)
    tell(t('configsDeleted', { count: items.length }))
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('deleteConfigs', { count: items.length })}
      done={t('delete')}
      onClose={onClose}
      onDo={remove}
    >
      <p>{t('deleteConfigsText')}</p>
      <div class="card table-card">
        <table>
          <thead>
            <tr>
              <th>{t('dataId')}</th>
              <th>{t('group')}</th>
              <th>{t('namespace')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.id}>
                <td dir="auto">{item.dataId}</td>
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
