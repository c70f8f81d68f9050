import { useState } from 'preact/hooks'
import { TextField } from '../controls/field.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { t } from '../language/text.ts'
import { addRole, ADMINISTRATOR_ROLE, findRoles, removeRole } from '../server/access.ts'
import { AccessList } from './access-list.tsx'
import { NewEntry } from './new-entry.tsx'

/** The roles of users. */
export function RolesView() {
  return (
    <AccessList
      title={t('roles')}
      searchLabel={t('role')}
      newLabel={t('newRole')}
      emptyText={t('noRoles')}
      find={findRoles}
      columns={[t('role'), t('username')]}
      keyOf={({ role, username }) => `${role}\n${username}`}
      cells={({ role, username }) => [
        <span>
          <strong>{role}</strong>{' '}
          {role === ADMINISTRATOR_ROLE && <span class="badge accent">{t('mayDoAll')}</span>}
        </span>,
        username,
      ]}
      removeTitle={({ role, username }) => t('removeRoleOf', { role, user: username })}
      removeText={t('removeRoleText')}
      remove={removeRole}
      maker={(onClose, onDone) => <RoleDialog onClose={onClose} onDone={onDone} />}
    />
  )
}

function RoleDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [role, setRole] = useState('')
  const [username, setUsername] = useState('')
  return (
    <NewEntry
      title={t('newRole')}
      isReady={role.trim() !== '' && username.trim() !== ''}
      save={() => addRole({ role, username })}
      onClose={onClose}
      onDone={onDone}
    >
      <NewNameField label={t('role')} hint={t('newRoleHint')} hasFocus value={role} onInput={setRole} />
      <TextField label={t('username')} value={username} onInput={setUsername} />
    </NewEntry>
  )
}
