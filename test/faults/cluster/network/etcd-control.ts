import type { Etcd, EtcdMember } from '../../../support/etcd.ts'

/** Calls etcd by its JSON gateway. */
async function call(endpoint: string, path: string, body: object): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(5_000)
  const response = await fetch(`${endpoint}${path}`, { method: 'POST', body: JSON.stringify(body), signal })
  if (!response.ok) throw new Error(`etcd answered ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** The member that leads. */
export async function leaderOf({ members }: Etcd): Promise<EtcdMember> {
  for (const member of members) {
    const { header, leader } = await call(member.endpoint, '/v3/maintenance/status', {})
    if ((header as { member_id: string }).member_id === leader) return member
  }
  throw new Error('etcd has no leader')
}

/** Forgets all revisions before the current one. */
export async function compact({ endpoints }: Etcd): Promise<void> {
  const { header } = await call(endpoints[0]!, '/v3/kv/range', { key: 'AA==' })
  const { revision } = header as { revision: string }
  await call(endpoints[0]!, '/v3/kv/compaction', { revision, physical: true })
}
