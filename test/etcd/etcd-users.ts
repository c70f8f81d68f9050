import { systemClock } from '@waypost/etcd-client/clock'
import { connectTo, type EtcdAccess, type EtcdConnection } from '@waypost/etcd-client/connection'
import type { Method } from '@waypost/etcd-client/methods'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { WireWriter } from '@waypost/etcd-client/wire-writer'

const LIMIT_MS = 30_000
const READ_AND_WRITE = 2

/** A call of etcd that only tests make: its fields are texts, by their numbers. */
function auth(name: string): Method<readonly string[], void> {
  return {
    path: `/etcdserverpb.Auth/${name}`,
    needsLeader: true,
    encode: (fields) => {
      const writer = new WireWriter(100)
      for (const [index, text] of [...fields.entries()].toReversed()) writer.text(index + 1, text)
      return writer.finish()
    },
    decode: () => undefined,
  }
}

/** A role that may read and write all keys of a prefix. */
const grant: Method<{ role: string; prefix: string }, void> = {
  ...auth('RoleGrantPermission'),
  encode: ({ role, prefix }) => {
    const writer = new WireWriter(100)
    writer.message(2, () => {
      writer.text(3, prefixEnd(prefix))
      writer.text(2, prefix)
      writer.number(1, READ_AND_WRITE)
    })
    writer.text(1, role)
    return writer.finish()
  },
}

/** Makes a user and a role that may use a prefix, and turns authentication on. Who does it must be `root` afterwards. */
export async function turnOnAuth(
  endpoint: string,
  { user, password, prefix }: { user: string; password: string; prefix: string },
  access: EtcdAccess = {},
): Promise<void> {
  const connection = connectTo(systemClock, access)(endpoint, { silentMs: LIMIT_MS, silent() {} })
  await connection.connect(LIMIT_MS)
  const call = callBy(connection)
  await call('UserAdd', 'root', 'root password')
  await call('RoleAdd', 'root')
  await call('UserGrantRole', 'root', 'root')
  await call('UserAdd', user, password)
  await call('RoleAdd', 'servers')
  await connection.call(grant, { role: 'servers', prefix }, LIMIT_MS)
  await call('UserGrantRole', user, 'servers')
  await call('AuthEnable')
  connection.close()
}

/** Changes the password of a user, as `root`. */
export async function changePassword(endpoint: string, user: string, password: string): Promise<void> {
  const root = { name: 'root', password: () => 'root password' }
  const connection = connectTo(systemClock, { user: root })(endpoint, { silentMs: LIMIT_MS, silent() {} })
  await connection.connect(LIMIT_MS)
  await callBy(connection)('UserChangePassword', user, password)
  connection.close()
}

function callBy(connection: EtcdConnection) {
  return (name: string, ...fields: string[]) => connection.call(auth(name), fields, LIMIT_MS)
}
