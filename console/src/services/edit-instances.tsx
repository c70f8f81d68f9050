import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, SelectField, TextField } from '../controls/field.tsx'
import { Masked } from '../controls/masked.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { hasLongValues, PairsField, pairsIn, textOfPairs, uncovered } from '../controls/pairs.tsx'
import { tell, tellUndoable } from '../controls/toast.tsx'
import { isSecretKey } from '../../../src/formats/secret-keys.ts'
import { shownNumber, t } from '../language/text.ts'
import {
  changeInstances,
  type Instance,
  removeMetadata,
  type ServiceName,
  writeMetadata,
} from '../server/services.ts'
import { changesOf, metadataChange, type ValueChange, type WantedChange } from './instance-changes.ts'
import { hostPort } from '../server/host-port.ts'

const MOST_WEIGHT = 10_000

/** Changes one instance, or several in the same way: an empty field leaves each as it is. It shows what will change. */
export function EditInstances(props: {
  readonly name: ServiceName
  readonly instances: readonly Instance[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { name, instances, onClose, onDone } = props
  const first = instances[0]!
  const isOne = instances.length === 1
  const isLong = isOne && hasLongValues(first.metadata)
  const [weight, setWeight] = useState(isOne ? String(first.weight) : '')
  const [enabled, setEnabled] = useState(isOne ? String(first.enabled) : '')
  const [metadata, setMetadata] = useState(isOne && !isLong ? textOfPairs(first.metadata) : '')
  const [removed, setRemoved] = useState('')
  const value = Number(weight)
  const isWeight = weight.trim() === '' ? !isOne : value >= 0 && value <= MOST_WEIGHT
  const pairs = pairsIn(metadata)
  const typed = { set: uncovered(pairs ?? {}, isOne ? first.metadata : {}), removed: keysIn(removed) }
  const wanted: WantedChange = {
    weight: weight.trim() === '' || !isWeight ? undefined : value,
    enabled: enabled === '' ? undefined : enabled === 'true',
    ...(isOne && !isLong ? metadataChange(first.metadata, typed.set) : typed),
  }
  const changed = pairs === undefined ? [] : changedOf(instances, wanted)
  const isReady = isWeight && changed.length > 0
  const { isBusy, problem, run } = useDoing(async () => {
    const missing = await carryOut(name, changed, wanted)
    if (missing > 0) tell(t('instancesGone', { count: shownNumber(missing) }), true)
    else if (isUndoable(changed)) tellUndoable(t('saved'), () => takeBack(name, changed).finally(onDone))
    else tell(t('saved'))
    onClose()
    onDone()
  }, name.namespaceId)
  const asIs = isOne ? [] : [['', t('asItIs')] as const]
  return (
    <Dialog
      title={isOne ? t('editNamed', { name: hostPort(first) }) : t('editChosen', { count: instances.length })}
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
      {isLong && <Notice kind="plain">{t('metadataLong')}</Notice>}
      <PairsField
        label={isOne && !isLong ? t('metadata') : t('metadataToWrite')}
        text={metadata}
        onInput={setMetadata}
      />
      {(!isOne || isLong) && (
        <TextField
          label={t('metadataToRemove')}
          hint={t('keysHint')}
          isCode
          value={removed}
          onInput={setRemoved}
        />
      )}
      <Changes changed={changed} />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}

/** An instance with the changes of its values. */
interface ChangedInstance {
  readonly instance: Instance
  readonly changes: readonly ValueChange[]
}

const changedOf = (instances: readonly Instance[], wanted: WantedChange): ChangedInstance[] =>
  instances
    .map((instance) => ({ instance, changes: changesOf(instance, wanted) }))
    .filter(({ changes }) => changes.length > 0)

/** Changes them all by at most three requests; how many were not there any more. */
async function carryOut(
  name: ServiceName,
  changed: readonly ChangedInstance[],
  { weight, enabled, set, removed }: WantedChange,
): Promise<number> {
  const having = (is: (change: ValueChange) => boolean): Instance[] =>
    changed.filter(({ changes }) => changes.some(is)).map(({ instance }) => instance)
  const rated = having(({ what }) => what !== 'metadata')
  const written = having(({ what, after }) => what === 'metadata' && after !== undefined)
  const cleaned = having(({ what, after }) => what === 'metadata' && after === undefined)
  const gone = rated.length > 0 ? await changeInstances(name, rated, { weight, enabled }) : []
  if (written.length > 0) await writeMetadata(name, written, set)
  if (cleaned.length > 0) await removeMetadata(name, cleaned, removed)
  return gone.length
}

/** Weight and traffic can be set back; metadata may mean more to its writer. */
const isUndoable = (changed: readonly ChangedInstance[]): boolean =>
  changed.every(({ changes }) => changes.every(({ what }) => what !== 'metadata'))

async function takeBack(name: ServiceName, changed: readonly ChangedInstance[]): Promise<void> {
  for (const { instance } of changed) {
    const { weight, enabled } = instance
    await changeInstances(name, [instance], { weight, enabled })
  }
}

function Changes({ changed }: { changed: readonly ChangedInstance[] }) {
  const title = t('willChange', { count: shownNumber(changed.length) })
  if (changed.length === 0) return <p class="soft">{t('nothingChanges')}</p>
  return (
    <section>
      <h3>{title}</h3>
      <ul class="keys" tabIndex={0} aria-label={title}>
        {changed.map(({ instance, changes }) => (
          <li key={instance.instanceId}>
            <strong>{hostPort(instance)}</strong>
            {changes.map((change) => (
              <div key={`${change.what} ${change.key}`}>
                <OneChange change={change} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}

function OneChange({ change: { what, key, before, after } }: { change: ValueChange }) {
  const label = what === 'metadata' ? key : what === 'weight' ? t('weight') : t('traffic')
  const shown = (value: string) =>
    what === 'enabled' ? (value === 'true' ? t('switchedOnShort') : t('switchedOffShort')) : value
  const isSecret = what === 'metadata' && isSecretKey(key)
  return (
    <>
      <span dir="auto">{label}</span>{' '}
      {before !== undefined && (
        <del>
          <Masked text={shown(before)} isSecret={isSecret} />
        </del>
      )}{' '}
      {after !== undefined && (
        <ins>
          <Masked text={shown(after)} isSecret={isSecret} />
        </ins>
      )}
    </>
  )
}

const keysIn = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((key) => key.trim())
    .filter((key) => key !== '')
