import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, Field } from '../controls/field.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tell } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { importConfigs, type ImportOutcome, type ImportPolicy } from '../server/configs.ts'
import { refreshNamespaces } from '../state/namespaces.ts'
import { PolicyField, Trial } from './trial.tsx'

/** Imports a zip file: first it is shown what would happen. */
export function ImportDialog(props: {
  readonly tenant: string
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { tenant, onClose, onDone } = props
  const [file, setFile] = useState<File | undefined>()
  const [policy, setPolicy] = useState<ImportPolicy>('ABORT')
  const [trial, setTrial] = useState<ImportOutcome | undefined>()
  const { isBusy, problem, run } = useDoing(async () => {
    if (file === undefined) return
    const isTrial = trial === undefined
    if (!isTrial && !(await confirmWrite(tenant))) return
    const outcome = await importConfigs(tenant, file, { policy, seenState: trial?.state }).catch(
      (error: unknown) => {
        // The preview is not true any more.
        setTrial(undefined)
        throw error
      },
    )
    if (isTrial) return setTrial(outcome)
    tell(t('imported', { count: shownNumber(outcome.succCount), skipped: shownNumber(outcome.skipCount) }))
    void refreshNamespaces().catch(() => undefined)
    onClose()
    onDone()
  })
  return (
    <Dialog
      title={t('import')}
      onClose={onClose}
      onSubmit={() => void run()}
      footer={
        <DialogButtons
          done={trial === undefined ? t('tryImport') : t('import')}
          onCancel={onClose}
          isBusy={isBusy}
          isDisabled={file === undefined}
        />
      }
    >
      <NamespaceMark id={tenant} />
      <Field
        label={t('zipFile')}
        hint={t('zipFileHint')}
        control={(ids) => (
          <input
            {...ids}
            class="input"
            type="file"
            accept=".zip"
            onChange={(event) => {
              setFile(event.currentTarget.files?.[0])
              setTrial(undefined)
            }}
          />
        )}
      />
      <PolicyField
        policy={policy}
        onChange={(chosen) => {
          setPolicy(chosen)
          setTrial(undefined)
        }}
      />
      {trial && <Trial outcome={trial} policy={policy} />}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
