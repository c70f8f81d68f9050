import { createHash } from 'node:crypto'
import { addPermission, addRole, createFirstAdministrator } from '../../src/core/access/access-commands.ts'
import { createFirstKey } from '../../src/core/access/signing-key-commands.ts'
import type { AuditEvent } from '../../src/core/audit/audit-event.ts'
import { noteServer } from '../../src/core/cluster/members/server-records.ts'
import { publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { publishing } from '../../src/core/core.test-support.ts'
import { createNamespace } from '../../src/core/namespaces/namespace-commands.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { EtcdPlace } from '../../src/store/etcd/copy/etcd-source.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import type { StoreServer } from './store-server.ts'

/** A key with its value, and the lease that it is on; 0: none. */
export interface SoundKey {
  readonly key: string
  readonly value: Uint8Array
  readonly lease: bigint
}

const LARGE = 'x'.repeat(700_000)
/** What no command of this file writes. */
const MORE: Readonly<Record<string, string>> = {
  'g/x/0': '["a"]',
  'h/x/0': '701024',
  'k/peer-secret': JSON.stringify({ origin: '0123456789ab', inUse: 'a'.repeat(43) }),
  'k/history-clock-ms': '1795961682618',
  'k/term': '1',
  'k/memory': '{"heap":1,"external":1}',
  'k/old-tokens': '{"sinceStamp":1,"untilMs":1}',
  'k/imported-1': '{"a":"b"}',
}

/** Fills a store in which a server runs, and reads a key of each kind but `format`. */
export async function oneOfEachKind(
  client: EtcdClient,
  prefix: string,
  server: StoreServer,
): Promise<SoundKey[]> {
  await changeAll(server)
  const { id: lease } = await client.lease(600)
  const on = (key: string, text: string, of = 0n): SoundKey => ({
    key: `${prefix}/${key}`,
    value: Buffer.from(text),
    lease: of,
  })
  const member = { value: { ...server.facts, port: 9 }, stamp: 0 }
  await putAll(client, [
    ...Object.entries(MORE).map(([key, text]) => on(key, text)),
    on('p/127.0.0.1:9', JSON.stringify(member), lease),
    on('e', '{"value":{"member":"127.0.0.1:9","term":1},"stamp":0}', lease),
  ])
  const { kvs } = await client.range({ key: `${prefix}/`, end: prefixEnd(`${prefix}/`) })
  const found = new Map<string, SoundKey>()
  for (const { key, value, lease: of } of kvs) {
    const [letter, part] = key.slice(prefix.length + 1).split('/')
    const kind = letter === 'r' || letter === 'k' ? `${letter}/${part}` : letter!
    if (kind !== 'format' && !found.has(kind)) found.set(kind, { key, value: Buffer.from(value), lease: of })
  }
  return [...found.values()]
}

/** Writes keys in one revision. */
export async function putAll(client: EtcdClient, all: readonly SoundKey[]): Promise<void> {
  await client.txn({ compare: [], success: all.map((kv) => ({ do: 'put', ...kv })) })
}

/** The store of a server, for the doctor. */
export function placeOf({ client, sealing, secretsKey }: StoreServer, prefix: string): EtcdPlace {
  const keys = new Keys(`${prefix}/`)
  return { client, keys, prefix: keys.prefix, place: 'etcd', sealing, secretsKey }
}

async function changeAll({ engine, store, now }: StoreServer): Promise<void> {
  await engine.execute(createFirstAdministrator({ username: 'ann', passwordHash: 'x' }))
  await engine.execute(addRole({ username: 'ann', role: 'r' }))
  await engine.execute(addPermission({ role: 'r', resource: '*:*:*', action: 'r' }))
  await engine.execute(createFirstKey({ id: 'first', secret: 'x' }))
  await engine.execute(createNamespace({ id: 'n', showName: 'n', desc: '' }))
  await engine.execute(noteServer('10.0.0.9:8848', { ip: '10.0.0.9', port: 8848, site: '' }))
  const md5 = createHash('md5').update(LARGE).digest('hex')
  const key = configKey('public', 'G', 'large')
  await engine.execute(publishConfig({ ...publishing(LARGE, {}), key, md5 }))
  const event = {
    id: now().stamp,
    atMs: 1,
    count: 1,
    username: '-',
    by: 'none',
    ip: '-',
    operation: 'x',
  } as const
  await store.saveAudit([{ ...event, item: 'a', result: 'done', code: '', detail: '' } satisfies AuditEvent])
}

/** The value with each of its fields, at any depth, removed or replaced. */
export function variants(value: Buffer): Buffer[] {
  const end = value.indexOf(10)
  const [line, rest] = end < 0 ? [value, Buffer.alloc(0)] : [value.subarray(0, end), value.subarray(end)]
  const whole = JSON.parse(line.toString()) as object
  return pathsOf(whole).flatMap((path) =>
    [undefined, null, 'text', 7, {}, [], true].map((other) => {
      const copy = structuredClone(whole)
      const at = path.slice(0, -1).reduce((one, name) => one[name] as Fields, copy as Fields)
      at[path.at(-1)!] = other
      return Buffer.concat([Buffer.from(JSON.stringify(copy)), rest])
    }),
  )
}

type Fields = Record<string, unknown>

function pathsOf(value: object): string[][] {
  return Object.entries(value).flatMap(([name, one]) => {
    const below = typeof one === 'object' && one !== null ? pathsOf(one as object) : []
    return [[name], ...below.map((path) => [name, ...path])]
  })
}
