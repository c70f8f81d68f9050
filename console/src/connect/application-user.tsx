import { useEffect, useState } from 'preact/hooks'
import { NewEntry } from '../access/new-entry.tsx'
import { sentenceOf } from '../access/sentences.ts'
import { SelectField, TextField } from '../controls/field.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { namespaceName } from '../state/namespaces.ts'
import { isAdministrator, standing } from '../state/user.ts'
import {
  makeUserFor,
  mayAll,
  type Needed,
  NO_USER_YET,
  permissionFor,
  usersWithRight,
} from './users-with-right.ts'

/** The choice of the user in the code. */
export function ApplicationUser(props: {
  readonly needed: Needed
  readonly value: string
  readonly onChange: (username: string) => void
  readonly onNew: () => void
}) {
  const { needed, value, onChange, onNew } = props
  const [names, setNames] = useState<readonly string[]>([])
  const find = async (): Promise<void> => {
    const found = isAdministrator() ? await usersWithRight(needed) : ownName(needed)
    setNames(found)
    if (found[0] !== undefined && value === NO_USER_YET) onChange(found[0])
  }
  useEffect(() => void find().catch(tellProblem), [])
  const known = [...new Set([...names, value, NO_USER_YET])]
  return (
    <div class="filters">
      <SelectField
        label={t('applicationUser')}
        value={value}
        choices={known.map((name) => [name, name] as const)}
        onChange={onChange}
      />
      {isAdministrator() ? (
        <button type="button" class="button" onClick={onNew}>
          {t('makeUserForIt')}
        </button>
      ) : (
        <p class="soft">{t('askForUser')}</p>
      )}
    </div>
  )
}

/** The user of the page, if its rights are enough. */
function ownName(needed: Needed): string[] {
  const { value } = standing
  if (value.kind !== 'signed-in' || !mayAll(value.user.permissions, needed)) return []
  return [value.user.username]
}

/** Makes a user that may do what the code does. */
export function NewApplicationUser(props: {
  readonly needed: Needed
  readonly onClose: () => void
  readonly onMade: (username: string) => void
}) {
  const { needed, onClose, onMade } = props
  const { about } = needed
  const [stem = ''] = (about.kind === 'config' ? about.dataId : about.name).split('.')
  const [username, setUsername] = useState(`${stem}-app`)
  const [password, setPassword] = useState('')
  return (
    <NewEntry
      title={t('newUser')}
      isReady={username.trim() !== '' && password !== ''}
      save={() => makeUserFor(needed, { username: username.trim(), password })}
      onClose={onClose}
      onDone={() => onMade(username.trim())}
    >
      <TextField label={t('username')} hasFocus value={username} onInput={setUsername} />
      <TextField
        label={t('newPassword')}
        type="password"
        autoComplete="new-password"
        hint={t('passwordHint')}
        value={password}
        onInput={setPassword}
      />
      <p>
        <strong>{sentenceOf(permissionFor(needed), namespaceName)}</strong>
      </p>
    </NewEntry>
  )
}
