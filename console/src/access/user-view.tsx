import { useState } from 'preact/hooks'
import { Icon } from '../controls/icon.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { anyOf } from '../live/meant.ts'
import { linkTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { ADMINISTRATOR_ROLE, type RolePermission, rolesOf, permissionsOf } from '../server/access.ts'
import { useLoaded } from '../live/loaded.ts'
import { namespaceName } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { isAdministrator, standing } from '../state/user.ts'
import { GivePermission } from './give-permission.tsx'
import { sentenceOf } from './sentences.ts'

interface Rights {
  readonly roles: readonly string[]
  readonly permissions: readonly RolePermission[]
}

/** The rights of a user, in sentences, each with the permission that allows it. Without a name: the user of the page. */
export function UserView() {
  const { params } = useStore(place)
  const name = params['name'] ?? ''
  return name === '' ? <OwnRights /> : <RightsOf key={name} username={name} />
}

function OwnRights() {
  const who = useStore(standing)
  if (who.kind !== 'signed-in') return null
  const { globalAdmin, roles, permissions } = who.user
  return (
    <>
      <div class="head">
        <h1 class="title">{t('ownRights')}</h1>
      </div>
      {globalAdmin ? (
        <p>{t('mayAll')}</p>
      ) : (
        <Sentences roles={roles} permissions={permissions.map((one) => ({ ...one, role: '' }))} />
      )}
    </>
  )
}

function RightsOf({ username }: { username: string }) {
  const [isGiving, setGiving] = useState(false)
  const found = useLoaded(username, () => readRights(username), anyOf('user', 'role', 'permission'))
  const { value } = found
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('users')}>{t('users')}</a> <Icon name="right" />
        <span dir="auto">{username}</span>
      </p>
      <div class="head">
        <h1 class="title" dir="auto">
          {t('rightsOf', { user: username })}
        </h1>
        {isAdministrator() && value !== undefined && (
          <button type="button" class="button primary" onClick={() => setGiving(true)}>
            <Icon name="plus" />
            {t('givePermission')}
          </button>
        )}
      </div>
      <LoadProblem found={found} />
      {value !== undefined && <Sentences {...value} />}
      {isGiving && value !== undefined && (
        <GivePermission
          username={username}
          roles={value.roles}
          onClose={() => setGiving(false)}
          onDone={found.reload}
        />
      )}
    </>
  )
}

async function readRights(username: string): Promise<Rights> {
  const roles = await rolesOf(username)
  const permissions = await Promise.all(roles.map((role) => permissionsOf(role)))
  return { roles, permissions: permissions.flat() }
}

function Sentences({ roles, permissions }: Rights) {
  const isAll = roles.includes(ADMINISTRATOR_ROLE)
  return (
    <section class="card">
      <ul class="lines">
        {isAll && (
          <li>
            <div>
              <strong>{t('mayAll')}</strong>
              <div class="soft">{t('byRole', { role: ADMINISTRATOR_ROLE })}</div>
            </div>
          </li>
        )}
        {permissions.map((one) => (
          <li key={`${one.role} ${one.resource} ${one.action}`}>
            <div>
              <strong dir="auto">{sentenceOf(one, namespaceName)}</strong>
              <div class="soft" dir="auto">
                {one.role === ''
                  ? `${one.resource} ${one.action}`
                  : t('byPermission', { permission: `${one.resource} ${one.action}`, role: one.role })}
              </div>
            </div>
          </li>
        ))}
      </ul>
      {!isAll && permissions.length === 0 && <p class="quiet-line soft">{t('mayNothing')}</p>}
    </section>
  )
}
