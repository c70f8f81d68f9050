import { useState } from 'preact/hooks'
import { TextField } from '../controls/field.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { createUser, findUsers, removeUser, setPassword } from '../server/access.ts'
import { AccessList } from './access-list.tsx'
import { NewEntry } from './new-entry.tsx'

/** The users. */
export function UsersView() {
  const [changed, setChanged] = useState<string | undefined>()
  return (
    <>
      <AccessList
        title={t('users')}
        searchLabel={t('username')}
        newLabel={t('newUser')}
        emptyText={t('noUsers')}
        find={findUsers}
        columns={[t('username')]}
        keyOf={({ username }) => username}
        cells={({ username }) => [<a href={linkTo('user', { name: username })}>{username}</a>]}
        actions={({ username }) => (
          <button type="button" class="button small" onClick={() => setChanged(username)}>
            {t('setPassword')}
          </button>
        )}
        removeTitle={({ username }) => t('deleteNamed', { name: username })}
        removeText={t('deleteUserText')}
        remove={({ username }) => removeUser(username)}
        maker={(onClose, onDone) => <UserDialog onClose={onClose} onDone={onDone} />}
      />
      {changed !== undefined && (
        <UserDialog username={changed} onClose={() => setChanged(undefined)} onDone={() => undefined} />
      )}
    </>
  )
}

/** Makes a user, or sets the password of one. */
function UserDialog(props: {
  readonly username?: string
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { username: known, onClose, onDone } = props
  const [username, setUsername] = useState(known ?? '')
  const [password, setNew] = useState('')
  return (
    <NewEntry
      title={known === undefined ? t('newUser') : t('setPasswordOf', { user: known })}
      isReady={username.trim() !== '' && password !== ''}
      save={() => (known === undefined ? createUser(username, password) : setPassword(username, password))}
      onClose={onClose}
      onDone={onDone}
    >
      <NewNameField
        label={t('username')}
        isReadOnly={known !== undefined}
        hasFocus={known === undefined}
        value={username}
        onInput={setUsername}
      />
      <TextField
        label={t('newPassword')}
        type="password"
        autoComplete="new-password"
        hasFocus={known !== undefined}
        value={password}
        hint={`${t('passwordHint')} ${known === undefined ? t('newUserHint') : t('setPasswordHint')}`}
        onInput={setNew}
      />
    </NewEntry>
  )
}
