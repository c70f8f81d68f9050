import { useState } from 'preact/hooks'
import { SelectField, TextField } from '../controls/field.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { t } from '../language/text.ts'
import { addPermission, findPermissions, removePermission, type RolePermission } from '../server/access.ts'
import { namespaceName, namespaces } from '../state/namespaces.ts'
import { AccessList } from './access-list.tsx'
import { NewEntry } from './new-entry.tsx'

type Action = RolePermission['action']

/** The permissions of roles. */
export function PermissionsView() {
  return (
    <AccessList
      title={t('permissions')}
      searchLabel={t('role')}
      newLabel={t('newPermission')}
      emptyText={t('noPermissions')}
      find={findPermissions}
      columns={[t('role'), t('resource'), t('action')]}
      keyOf={({ role, resource, action }) => `${role}\n${resource}\n${action}`}
      cells={({ role, resource, action }) => [
        <strong>{role}</strong>,
        <code>{resource}</code>,
        <span class="badge">{t(`action.${action}`)}</span>,
      ]}
      removeTitle={({ role, resource }) => t('removePermissionOf', { role, resource })}
      removeText={t('removePermissionText')}
      remove={removePermission}
      maker={(onClose, onDone) => <PermissionDialog onClose={onClose} onDone={onDone} />}
    />
  )
}

function PermissionDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [role, setRole] = useState('')
  const [namespace, setNamespace] = useState('')
  const [rest, setRest] = useState('*:*')
  const [action, setAction] = useState<Action>('r')
  const choices: readonly (readonly [string, string])[] = [
    ['*', t('allNamespaces')],
    ...(namespaces.value ?? []).map(({ id }) => [id, namespaceName(id)] as const),
  ]
  const resource = `${namespace}:${rest}`
  return (
    <NewEntry
      title={t('newPermission')}
      isReady={role.trim() !== '' && rest.trim() !== ''}
      save={() => addPermission({ role, resource, action })}
      onClose={onClose}
      onDone={onDone}
    >
      <NewNameField label={t('role')} hasFocus value={role} onInput={setRole} />
      <SelectField label={t('namespace')} value={namespace} choices={choices} onChange={setNamespace} />
      <TextField label={t('groupAndName')} hint={t('resourceHint')} isCode value={rest} onInput={setRest} />
      <SelectField
        label={t('action')}
        value={action}
        choices={(['r', 'w', 'rw'] as const).map((one) => [one, t(`action.${one}`)] as const)}
        onChange={(chosen) => setAction(chosen as Action)}
      />
      <p class="soft">
        <code>{resource}</code>
      </p>
    </NewEntry>
  )
}
