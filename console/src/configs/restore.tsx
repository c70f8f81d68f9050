import { useState } from 'preact/hooks'
import { tellProblem } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { type ConfigItem, type ConfigName, readVersion, restoreVersion } from '../server/configs.ts'
import type { Base, Edit } from '../publishing/edit.ts'
import { PublishFlow } from '../publishing/publish-flow.tsx'

/** A version that may be restored. */
export interface Restorable {
  readonly name: ConfigName
  /** Undefined where the item is deleted, or not known yet. */
  readonly current: ConfigItem | undefined
  readonly historyId: string
  /** When it was published, or deleted. */
  readonly atMs: number
  readonly onRestored: () => void
}

/** Publishes a version once more, after a review. It never deletes, and fails where somebody else was faster. */
export function useRestore({ name, current, historyId, atMs, onRestored }: Restorable) {
  const [edit, setEdit] = useState<Edit | undefined>()
  // Merged texts are no version any more.
  const [isMerged, setMerged] = useState(false)
  const nothing: Base = { ...name, type: '', desc: '', appName: '', configTags: '', content: '', md5: '' }
  const open = async (): Promise<void> => {
    const { content, type, appName } = await readVersion(name, historyId)
    setEdit({ ...(current ?? nothing), content, type, appName })
  }
  const close = (): void => setEdit(undefined)
  const flow = edit !== undefined && (
    <PublishFlow
      restoredMs={atMs}
      base={current ?? { ...nothing, type: edit.type, appName: edit.appName }}
      edit={edit}
      {...(isMerged ? {} : { send: (sent) => restoreVersion(name, historyId, sent) })}
      onClose={close}
      onPublished={() => {
        close()
        onRestored()
      }}
      onMerged={(content) => {
        setEdit({ ...edit, content })
        setMerged(true)
        onRestored()
      }}
    />
  )
  return { open: () => void open().catch(tellProblem), flow }
}

/** The button of {@link useRestore}. */
export function RestoreButton(props: Restorable) {
  const { open, flow } = useRestore(props)
  return (
    <>
      <button type="button" class="button small" onClick={open}>
        {t('restore')}
      </button>
      {flow}
    </>
  )
}
