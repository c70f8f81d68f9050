import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, SelectField, TextField } from '../controls/field.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { hasLongValues, PairsField, pairsIn, textOfPairs } from '../controls/pairs.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { type Instance, type ServiceName, updateInstance } from '../server/services.ts'

const MOST_WEIGHT = 10_000

/** Changes one instance, or what several have in common: an empty field leaves each as it is. */
export function EditInstances(props: {
  readonly name: ServiceName
  readonly instances: readonly Instance[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { name, instances, onClose, onDone } = props
  const first = instances[0]!
  const isOne = instances.length === 1
  const [weight, setWeight] = useState(isOne ? String(first.weight) : '')
  const [enabled, setEnabled] = useState(isOne ? String(first.enabled) : '')
  const [metadata, setMetadata] = useState(textOfPairs(first.metadata))
  const editsMetadata = isOne && !hasLongValues(first.metadata)
  const value = Number(weight)
  const isWeight = weight.trim() === '' ? !isOne : value >= 0 && value <= MOST_WEIGHT
  const pairs = pairsIn(metadata)
  const isReady = isWeight && pairs !== undefined
  const { isBusy, problem, run } = useDoing(async () => {
    const isChanged = metadata !== textOfPairs(first.metadata)
    for (const instance of instances)
      await updateInstance(name, instance, {
        weight: weight.trim() === '' ? instance.weight : value,
        enabled: enabled === '' ? instance.enabled : enabled === 'true',
        metadata: editsMetadata && isChanged ? pairs : undefined,
      })
    tell(t('saved'))
    onClose()
    onDone()
  })
  const asIs = isOne ? [] : [['', t('asItIs')] as const]
  return (
    <Dialog
      title={
        isOne
          ? t('editNamed', { name: `${first.ip}:${first.port}` })
          : t('editChosen', { count: instances.length })
      }
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      <TextField
        label={t('weight')}
        hint={isOne ? t('weightHint') : t('emptyLeaves')}
        hasFocus
        value={weight}
        wrong={isWeight ? undefined : t('weightWrong')}
        onInput={setWeight}
      />
      <SelectField
        label={t('traffic')}
        value={enabled}
        choices={[...asIs, ['true', t('switchedOnShort')], ['false', t('switchedOffShort')]]}
        onChange={setEnabled}
      />
      {editsMetadata && <PairsField text={metadata} onInput={setMetadata} />}
      {isOne && !editsMetadata && <Notice kind="plain">{t('metadataLong')}</Notice>}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
