import { memberIdOf, type MemberFacts } from '../../../core/cluster/members/member-records.ts'
import { FIRST_RELEASED } from '../../../core/cluster/members/versions.ts'
import { DamagedStore } from '../../local-file.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { livingMembers } from '../keys/living-members.ts'

/** How many keys one request reads. */
const PAGE_SIZE = 5_000

type Client = Pick<EtcdClient, 'range' | 'pages'>

/** There are keys of servers, and the key of their layout is missing. */
class MissingFormat extends DamagedStore {
  override readonly name = 'MissingFormat'
}

/**
 * Refuses a store that has keys of servers and no layout: they may be written in another one than a server would begin.
 * Throws {@link MissingFormat}, which names the layout of the members. Call it when no layout was found.
 */
export async function refuseMissingFormat(client: Client, keys: Keys): Promise<void> {
  const found = await anyKey(client, keys)
  if (found === undefined) return
  const format = keys.of({ of: 'format' })
  // Another server may have begun the store meanwhile.
  if ((await client.range({ key: format })).kvs.length > 0) return
  const members = await livingMembers(client, keys)
  throw new MissingFormat(
    `The key ${format} of etcd is missing, though there are keys of servers, such as ${found}. It has the layout of the data. ` +
      adviceFor(format, members),
  )
}

async function anyKey(client: Client, keys: Keys): Promise<string | undefined> {
  const { prefix } = keys
  const range = { key: prefix, end: prefixEnd(prefix), pageSize: PAGE_SIZE, keysOnly: true }
  for await (const { kvs } of client.pages(range))
    for (const { key } of kvs) if (keys.read(key) !== undefined) return key
  return undefined
}

function adviceFor(format: string, members: readonly MemberFacts[]): string {
  const put = (layout: number): string => `\`etcdctl put ${format} ${layout}\``
  const [first] = members
  if (first === undefined)
    return (
      'No server runs that knows it. Restore a backup; or, if the data are whole and no later version has written them, ' +
      `put back the layout of the first release: ${put(FIRST_RELEASED)}.`
    )
  const { from, to } = first.versions.layouts
  const names = members.map(memberIdOf).join(', ')
  const known = from === to ? `layout ${from}` : `layout ${from} to ${to}`
  return `The servers that run (${names}) write ${known}: put it back with ${put(from)}.`
}
