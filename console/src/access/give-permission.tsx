import { useState } from 'preact/hooks'
import { SelectField, TextField } from '../controls/field.tsx'
import { t } from '../language/text.ts'
import { addPermission, addRole, type RolePermission } from '../server/access.ts'
import { namespaceName, namespaces } from '../state/namespaces.ts'
import { NewEntry } from './new-entry.tsx'
import { sentenceOf } from './sentences.ts'

type Action = RolePermission['action']

const ANYTHING = '*:*'
const CONFIGS = '*:config/*'
const SERVICES = '*:naming/*'
const PATTERN = ''

/** Gives a user a permission: the role and what it may do, in one form, with the sentence that it will be. */
export function GivePermission(props: {
  readonly username: string
  /** The roles that the user has. */
  readonly roles: readonly string[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { username, roles, onClose, onDone } = props
  const [role, setRole] = useState(roles[0] ?? `${username}-role`)
  const [namespace, setNamespace] = useState('')
  const [kind, setKind] = useState(ANYTHING)
  const [pattern, setPattern] = useState('*:config/')
  const [action, setAction] = useState<Action>('r')
  const rest = kind === PATTERN ? pattern : kind
  const resource = `${namespace}:${rest}`
  const save = async (): Promise<void> => {
    if (!roles.includes(role)) await addRole({ role, username })
    await addPermission({ role, resource, action })
  }
  return (
    <NewEntry
      title={t('givePermission')}
      isReady={role.trim() !== '' && rest.trim() !== ''}
      save={save}
      onClose={onClose}
      onDone={onDone}
    >
      <TextField
        label={t('role')}
        hint={t('givePermissionHint')}
        value={role}
        suggestions={roles}
        onInput={setRole}
      />
      <SelectField
        label={t('namespace')}
        value={namespace}
        choices={[
          ['*', t('allNamespaces')],
          ...(namespaces.value ?? []).map(({ id }) => [id, namespaceName(id)] as const),
        ]}
        onChange={setNamespace}
      />
      <SelectField
        label={t('things')}
        value={kind}
        choices={[
          [ANYTHING, t('allThings')],
          [CONFIGS, t('allConfigs')],
          [SERVICES, t('allServices')],
          [PATTERN, t('byPattern')],
        ]}
        onChange={setKind}
      />
      {kind === PATTERN && (
        <TextField
          label={t('groupAndName')}
          hint={t('resourceHint')}
          isCode
          value={pattern}
          onInput={setPattern}
        />
      )}
      <SelectField
        label={t('action')}
        value={action}
        choices={(['r', 'w', 'rw'] as const).map((one) => [one, t(`action.${one}`)] as const)}
        onChange={(chosen) => setAction(chosen as Action)}
      />
      <p>
        <strong>{sentenceOf({ resource, action }, namespaceName)}</strong>
      </p>
    </NewEntry>
  )
}
