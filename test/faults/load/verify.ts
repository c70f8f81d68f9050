import { Client } from '../../interface/client.ts'
import type { Json } from '../../interface/client.ts'
import { shown, wrongInHistory } from './check-history-of-item.ts'
import type { Record } from './check-history-of-item.ts'
import { allowedValues, lastAcknowledged } from './journal.ts'
import type { Journal, Kind, Thing } from './journal.ts'
import { wrongInCommitOrder } from './commit-order.ts'
import type { Committed } from './commit-order.ts'

/** The time of the fault, as `performance.now()`, and the part of the journal to check. */
export interface Examination {
  readonly cutAtMs: number
  readonly url: string
  /** How long before the fault a registration must be acknowledged so that it must be there; 1 s by default. */
  readonly writeBehindMs?: number
}

/** The promise is a tenth of a second. */
const WRITE_BEHIND_MS = 1_000
const PAGE = 500
/** The default of the switch. The load sets other values. */
const DEFAULT_SWITCH = 3_000
/** Of an item with many records, this number of the newest is read in full, unless writes are unknown. */
const READ_IN_FULL = 12

/** Compares the data of a restarted server with its earlier answers. Returns the differences and settles the journal. */
export async function verify(journal: Journal, examination: Examination): Promise<string[]> {
  const { url, cutAtMs, writeBehindMs = WRITE_BEHIND_MS } = examination
  const client = new Client(`${url}/svc/v1`)
  try {
    const readers = await readersOf(client, journal)
    const wrong: string[] = []
    const commits: Committed[] = []
    for (const thing of journal.things()) {
      const found = await readers[thing.kind](thing)
      wrong.push(...wrongValue(thing, { found, writtenMs: cutAtMs - writeBehindMs }))
      if (thing.kind === 'config') wrong.push(...(await wrongRecords(client, thing, { found, commits })))
      journal.settle(thing, found)
    }
    return [...wrong, ...wrongInCommitOrder(commits)]
  } finally {
    client.close()
  }
}

function wrongValue(
  thing: Thing,
  { found, writtenMs }: { found: string | undefined; writtenMs: number },
): string[] {
  const allowed = allowedValues(thing)
  // A registration is written behind, so those of the last moment may be missing.
  const last = thing.writes[lastAcknowledged(thing)]
  const isFresh = last?.value !== undefined && last.endedMs > writtenMs
  if (thing.kind === 'ephemeral' && isFresh) allowed.push(undefined)
  if (allowed.includes(found)) return []
  return [
    `${thing.kind} ${thing.name} is ${shown(found)}; it must be ${[...new Set(allowed.map(shown))].join(' or ')}`,
  ]
}

type Reader = (thing: Thing) => Promise<string | undefined>

/** Reads the things of each kind. Lists are requested once. */
async function readersOf(client: Client, journal: Journal): Promise<{ [K in Kind]: Reader }> {
  const spaces: Json[] = (await client.get('/console/namespaces')).json().data
  const names = new Map(spaces.map((space) => [space.namespace, space.namespaceShowName]))
  const switches = (await client.get('/ns/operator/switches')).json()
  const lists = new Map<string, Map<number, Json>>()
  for (const kind of ['persistent', 'ephemeral', 'metadata'] as const)
    for (const { name } of journal.things(kind)) {
      const [serviceName = ''] = name.split(' ')
      if (!lists.has(serviceName)) lists.set(serviceName, await hostsByPort(client, serviceName))
    }
  const hostOf = ({ name }: Thing): Json => {
    const [serviceName = '', port] = name.split(' ')
    return lists.get(serviceName)?.get(Number(port))
  }
  return {
    config: (thing) => readConfig(client, thing),
    namespace: async ({ name }) => names.get(name),
    service: ({ name }) => readService(client, name),
    persistent: async (thing) => hostOf(thing) && String(hostOf(thing).weight),
    ephemeral: async (thing) => (hostOf(thing) === undefined ? undefined : 'there'),
    metadata: (thing) => readRemembered(client, thing),
    switch: async () =>
      switches.defaultCacheMillis === DEFAULT_SWITCH ? undefined : String(switches.defaultCacheMillis),
  }
}

async function hostsByPort(client: Client, serviceName: string): Promise<Map<number, Json>> {
  const { hosts } = (await client.get('/ns/instance/list', { serviceName })).json()
  return new Map(hosts.map((host: Json) => [host.port, host]))
}

async function readConfig(client: Client, thing: Thing): Promise<string | undefined> {
  const { status, text } = await client.get('/cs/configs', addressOf(thing))
  if (status === 404) return undefined
  return status === 200 ? text : `status ${status}: ${text}`
}

async function readService(client: Client, serviceName: string): Promise<string | undefined> {
  const reply = await client.get('/ns/service', { serviceName })
  return reply.status === 200 ? String(reply.json().metadata.n) : undefined
}

/** Registers the instance to read its remembered metadata, and deregisters it at once. */
async function readRemembered(client: Client, { name }: Thing): Promise<string | undefined> {
  const [serviceName = '', port] = name.split(' ')
  const address = { serviceName, ip: '127.0.0.7', port: Number(port), ephemeral: true }
  await client.post('/ns/instance', address)
  const host = (await hostsByPort(client, serviceName)).get(Number(port))
  await client.delete('/ns/instance', address)
  return host?.metadata.k
}

async function wrongRecords(
  client: Client,
  thing: Thing,
  { found, commits }: { found: string | undefined; commits: Committed[] },
): Promise<string[]> {
  const listed = await recordsOf(client, thing)
  commits.push(...commitsOf(thing, listed))
  const inDoubt = thing.writes.slice(0, -1).some(({ outcome }) => outcome === 'unknown')
  // The number of unchecked writes must equal the number of unchecked records.
  const skipped = inDoubt ? 0 : Math.max(listed.length - READ_IN_FULL, 0)
  const records: Record[] = []
  for (const { id, op } of listed.slice(skipped)) {
    const reply = await client.get('/cs/history', { ...addressOf(thing), nid: id })
    records.push({ id, op, content: reply.status === 200 ? reply.json().content : `status ${reply.status}` })
  }
  return wrongInHistory(records, thing.writes.slice(skipped), found).map(
    (text) => `config ${thing.name}, ${listed.length} records: ${text}`,
  )
}

/** All records, oldest first, without their contents. */
async function recordsOf(client: Client, thing: Thing): Promise<{ id: number; op: string }[]> {
  const records: { id: number; op: string }[] = []
  for (let pageNo = 1; ; pageNo++) {
    const query = { search: 'accurate', ...addressOf(thing), pageNo, pageSize: PAGE }
    const page = (await client.get('/cs/history', query)).json()
    for (const { id, opType } of page.pageItems) records.push({ id: Number(id), op: opType.trim() })
    if (pageNo >= page.pagesAvailable) return records.reverse()
  }
}

/** The acknowledged writes before the first unknown one, each with its record. */
function commitsOf(thing: Thing, records: readonly { id: number }[]): Committed[] {
  const doubt = thing.writes.findIndex(({ outcome }) => outcome === 'unknown')
  const sure = doubt < 0 ? thing.writes : thing.writes.slice(0, doubt)
  return sure
    .slice(0, records.length)
    .map(({ begunMs, endedMs }, at) => ({ id: records[at]!.id, begunMs, endedMs }))
}

function addressOf({ name }: Thing): { dataId: string; group: string; tenant: string } {
  const [dataId = '', tenant = ''] = name.split(' ')
  return { dataId, group: 'G', tenant }
}
