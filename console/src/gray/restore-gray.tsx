import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { type DeletedConfig, restoreVersion } from '../server/configs.ts'

/** Brings back a deleted item that had gray versions only. */
export function RestoreGrayButton({ item, onRestored }: { item: DeletedConfig; onRestored: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const names = item.grayVersions.map(({ grayName }) => grayName).join(', ')
  const restore = async (): Promise<void> => {
    await restoreVersion(item, item.historyId, { casMd5: '', comment: '' })
    tell(t('grayRestored', { names }))
    setOpen(false)
    onRestored()
  }
  return (
    <>
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        {t('restore')}
      </button>
      {isOpen && (
        <Confirm
          title={t('grayRestoreTitle', { name: item.dataId })}
          done={t('restore')}
          namespaceId={item.tenant}
          onClose={() => setOpen(false)}
          onDo={restore}
        >
          <NamespaceMark id={item.tenant} />
          <p>{t('grayRestoreText', { names })}</p>
        </Confirm>
      )}
    </>
  )
}
