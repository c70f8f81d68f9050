import { useEffect, useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, SelectField, TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tell, tellProblem } from '../controls/toast.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { shownNumber, t } from '../language/text.ts'
import { copyConfigs } from '../server/compare.ts'
import type { ConfigName, ImportOutcome, ImportPolicy } from '../server/configs.ts'
import { namespaceParam, namespaces, refreshNamespaces } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWriteConfigs } from '../state/user.ts'
import { GrayNotCloned } from '../gray/gray-not-cloned.tsx'
import { PolicyField, Trial } from './trial.tsx'

type Item = ConfigName & { readonly id: string }

/** Copies items into a namespace, a single one under another name too: first it is shown what would happen. */
export function CloneDialog(props: {
  readonly items: readonly Item[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { items, onClose, onDone } = props
  const [first] = items
  const [name, setName] = useState({ dataId: first?.dataId ?? '', group: first?.group ?? '' })
  const [policy, setPolicy] = useState<ImportPolicy>('ABORT')
  const [comment, setComment] = useState('')
  const [trial, setTrial] = useState<ImportOutcome | undefined>()
  const all = (useStore(namespaces) ?? []).filter(({ id }) => mayWriteConfigs(id))
  const own = first?.tenant ?? ''
  // Several keep their names, so that they go elsewhere.
  const other = items.length === 1 ? undefined : all.find(({ id }) => id !== own)
  const [target, setTarget] = useState<string | undefined>()
  const to = target ?? other?.id ?? own
  useEffect(() => void refreshNamespaces().catch(tellProblem), [])
  const targets = all.map((one) => [namespaceParam(one.id), one.name] as const)
  const trimmed = { dataId: name.dataId.trim(), group: name.group.trim() }
  const copied = items.map(({ id }) => (items.length === 1 ? { id, ...trimmed } : { id }))
  const { isBusy, problem, run } = useDoing(async () => {
    const isTrial = trial === undefined
    if (!isTrial && !(await confirmWrite(to))) return
    const options = { policy, comment, dryRun: isTrial, seenState: trial?.state }
    const outcome = await copyConfigs(to, copied, options).catch((error: unknown) => {
      // The preview is not true any more.
      setTrial(undefined)
      throw error
    })
    if (isTrial) return setTrial(outcome)
    tell(t('cloned', { count: shownNumber(outcome.succCount), skipped: shownNumber(outcome.skipCount) }))
    void refreshNamespaces().catch(() => undefined)
    onClose()
    onDone()
  })
  const rename = (changed: Partial<typeof name>): void => {
    setName({ ...name, ...changed })
    setTrial(undefined)
  }
  const isReady = items.length > 1 || (trimmed.dataId !== '' && trimmed.group !== '')
  return (
    <Dialog
      title={t('cloneTitle', { count: shownNumber(items.length) })}
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={
        <DialogButtons
          done={trial === undefined ? t('tryImport') : t('clone')}
          onCancel={onClose}
          isBusy={isBusy}
          isDisabled={!isReady}
        />
      }
    >
      <SelectField
        label={t('cloneTo')}
        value={namespaceParam(to)}
        choices={targets}
        onChange={(chosen) => {
          setTarget(chosen === 'public' ? '' : chosen)
          setTrial(undefined)
        }}
      />
      {items.length === 1 && (
        <>
          <NewNameField
            label={t('dataId')}
            isCode
            maxLength={256}
            value={name.dataId}
            onInput={(dataId) => rename({ dataId })}
          />
          <NewNameField
            label={t('group')}
            isCode
            maxLength={128}
            value={name.group}
            onInput={(group) => rename({ group })}
          />
        </>
      )}
      <PolicyField
        policy={policy}
        onChange={(chosen) => {
          setPolicy(chosen)
          setTrial(undefined)
        }}
      />
      <TextField
        label={t('comment')}
        placeholder={t('commentHint')}
        value={comment}
        maxLength={512}
        onInput={setComment}
      />
      <GrayNotCloned items={items} />
      {trial && <Trial outcome={trial} policy={policy} />}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
