import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { PairsField, pairsIn, textOfPairs, uncovered } from '../controls/pairs.tsx'
import { tell } from '../controls/toast.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { t } from '../language/text.ts'
import { createService, updateService, type ServiceName, type ServiceSettings } from '../server/services.ts'
import { currentNamespace } from '../state/namespaces.ts'

/** Makes a service that has no instances yet. */
export function NewService({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [serviceName, setName] = useState('')
  const [groupName, setGroup] = useState('DEFAULT_GROUP')
  const name = {
    namespaceId: currentNamespace(),
    serviceName: serviceName.trim(),
    groupName: groupName.trim(),
  }
  return (
    <SettingsDialog
      title={t('newService')}
      namespaceId={name.namespaceId}
      isReady={name.serviceName !== '' && name.groupName !== ''}
      settings={{ protectThreshold: 0, metadata: {} }}
      onClose={onClose}
      onSave={async (settings) => {
        await createService(name, settings)
        tell(t('serviceCreated', { name: name.serviceName }))
        onDone()
      }}
    >
      <NewNameField label={t('serviceName')} hasFocus isCode value={serviceName} onInput={setName} />
      <NewNameField label={t('group')} isCode value={groupName} onInput={setGroup} />
    </SettingsDialog>
  )
}

/** Changes a service. */
export function EditService(props: {
  readonly name: ServiceName
  readonly settings: ServiceSettings
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { name, settings, onClose, onDone } = props
  return (
    <SettingsDialog
      title={t('editService', { name: name.serviceName })}
      namespaceId={name.namespaceId}
      isReady
      settings={settings}
      onClose={onClose}
      onSave={async (changed) => {
        await updateService(name, changed)
        tell(t('saved'))
        onDone()
      }}
    />
  )
}

function SettingsDialog(props: {
  readonly title: string
  readonly namespaceId: string
  readonly isReady: boolean
  readonly settings: ServiceSettings
  readonly onClose: () => void
  readonly onSave: (settings: ServiceSettings) => Promise<void>
  readonly children?: ComponentChildren
}) {
  const { title, settings, onClose, onSave } = props
  const [threshold, setThreshold] = useState(String(settings.protectThreshold))
  const [metadata, setMetadata] = useState(textOfPairs(settings.metadata))
  const [expression, setExpression] = useState(settings.expression ?? '')
  const value = Number(threshold)
  const isThreshold = threshold.trim() !== '' && value >= 0 && value <= 1
  const pairs = pairsIn(metadata)
  const isReady = props.isReady && isThreshold && pairs !== undefined
  const { isBusy, problem, run } = useDoing(async () => {
    await onSave({
      protectThreshold: value,
      metadata: uncovered(pairs ?? {}, settings.metadata),
      expression: expression.trim(),
    })
    onClose()
  }, props.namespaceId)
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      {props.children}
      <TextField
        label={t('protectThreshold')}
        hint={t('protectThresholdHint')}
        value={threshold}
        wrong={isThreshold ? undefined : t('from0to1')}
        onInput={setThreshold}
      />
      <PairsField text={metadata} onInput={setMetadata} />
      <TextField
        label={t('selector')}
        hint={t('selectorHint')}
        isCode
        value={expression}
        onInput={setExpression}
      />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
