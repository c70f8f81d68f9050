import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createUser } from '../access/access-commands.ts'
import { deleteConfig, publishConfig } from '../config/commands/publish-config.ts'
import { stopGray } from '../config/commands/end-gray.ts'
import { publishGray } from '../config/commands/publish-gray.ts'
import { configKey } from '../config/state/config-item.ts'
import { address, applied, at, publishing, registration } from '../core.test-support.ts'
import type { Change } from '../decisions/changes.ts'
import type { Command } from '../decisions/decision.ts'
import { STORED_KINDS } from '../engine/stored-kinds.ts'
import { State } from '../engine/state.ts'
import { BEATS, type Publisher } from '../naming/state/instance.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { deleteMetadata, updateMetadata } from '../naming/commands/metadata-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { deleteService, updateService } from '../naming/commands/service-commands.ts'
import { createNamespace, deleteNamespace } from '../namespaces/namespace-commands.ts'
import { Refusal } from '../refusal.ts'
import type { Bytes } from './bytes-of.ts'
import { configBytes, instanceBytes, mergedBytes, recordBytes, serviceBytes } from './bytes-of-things.ts'
import { MEMORY_KINDS, type MemoryKind, memoryKindOf } from './memory-kinds.ts'

const BY = { ip: '10.0.0.9', user: 'somebody' }
const ORDERS = (name: string) => ({ namespaceId: 'public', groupedName: `G@@${name}` })
const name = fc.constantFrom('a', 'b', 'c')
const port = fc.integer({ min: 1, max: 3 })
const ip = fc.constantFrom('10.0.0.1', 'fd00::1', '[FD00:0:0:0:0:0:0:1]')
/** Two publishers of one address: one waits for it. */
const publisher = fc.constantFrom<Publisher>(
  BEATS,
  { kind: 'connection', id: 'a' },
  { kind: 'connection', id: 'long'.repeat(9) },
)
const app = fc.constantFrom('', 'application')
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 40 }))
const metadata = fc.dictionary(text, text, { maxKeys: 3 })
const keyOf = (dataId: string) => configKey('public', 'G', dataId)

const command: fc.Arbitrary<Command<unknown>> = fc.oneof(
  fc
    .tuple(name, text, fc.record({ schema: text, desc: text }, { requiredKeys: [] }))
    .map(([one, md5, notes]) => publishConfig(publishing(md5, { key: keyOf(one), notes }))),
  name.map((one) => deleteConfig(keyOf(one), BY)),
  fc.tuple(name, name, text).map(([one, gray, content]) =>
    publishGray({
      key: keyOf(one),
      name: gray,
      rule: { type: 'percent', version: '1.0.0', expr: '10', priority: 1 },
      content: Buffer.from(content),
      md5: content,
      type: undefined,
      encryptedDataKey: '',
      casMd5: undefined,
      operator: BY,
      comment: content,
    }),
  ),
  fc.tuple(name, name).map(([one, gray]) => stopGray({ key: keyOf(one), name: gray, operator: BY })),
  fc.tuple(name, ip, port, publisher, app, metadata).map(([one, spelled, p, by, application, registered]) =>
    registerInstance(
      registration({
        serviceKey: ORDERS(one),
        address: address({ ip: spelled, port: p }),
        publisher: by,
        app: application,
        metadata: registered,
      }),
    ),
  ),
  fc
    .tuple(name, port)
    .map(([one, p]) =>
      deregisterInstance({ serviceKey: ORDERS(one), address: address({ port: p }), ephemeral: undefined }),
    ),
  fc.tuple(fc.constantFrom(updateMetadata, deleteMetadata), name, metadata).map(([change, one, keys]) =>
    change({
      serviceKey: ORDERS(one),
      consistencyType: 'ephemeral',
      instances: [],
      keys,
      maxBytes: 10_000,
    }),
  ),
  fc
    .tuple(name, metadata)
    .map(([one, labels]) =>
      updateService(ORDERS(one), { metadata: labels, protectThreshold: undefined, selector: undefined }),
    ),
  name.map((one) => deleteService(ORDERS(one))),
  fc.tuple(name, text).map(([id, desc]) => createNamespace({ id, showName: desc, desc })),
  name.map((id) => deleteNamespace(id)),
  name.map((username) => createUser({ username, passwordHash: 'x'.repeat(97) })),
)

/** The same sums, by a walk over everything. */
function walked(state: State): Record<string, Bytes> {
  const sums: Record<string, { heap: number; external: number }> = {}
  for (const kind of Object.keys(MEMORY_KINDS)) sums[kind] = { heap: 0, external: 0 }
  const add = (kind: MemoryKind, { heap, external }: Bytes): void => {
    sums[kind]!.heap += heap
    sums[kind]!.external += external
  }
  for (const item of state.configs.all()) add('configurations', configBytes(item))
  for (const { service, instances } of state.services.all()) {
    add('services', { heap: serviceBytes(service), external: 0 })
    for (const { record, metadata: shown } of instances.values()) {
      const merged = shown === record.registered ? 0 : mergedBytes(shown)
      add('instances', { heap: instanceBytes(record) + merged, external: 0 })
    }
  }
  for (const kind of STORED_KINDS)
    for (const [id, stored] of state.records(kind)) {
      // Another server reads what the store has, and so does a start.
      const value = kind.decode(JSON.parse(JSON.stringify(stored)), id)
      const change = { kind: 'record-saved', recordKind: kind.name, id, value, stamp: 1 } as const
      add(memoryKindOf(change), recordBytes(kind.name, id, value))
    }
  return sums
}

/** The same, of new objects: so a server on etcd reads it. */
function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  if (Array.isArray(value)) return value.map(copied) as T
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copied(one)])) as T
}

const READ = ['config-published', 'instance-saved']
const asRead = (changes: readonly Change[]): readonly Change[] =>
  changes.map((change) => (READ.includes(change.kind) ? copied(change) : change))

test.each([
  ['as they are made', (changes: readonly Change[]) => changes],
  ['as another server reads them', asRead],
])('after any changes, %s, the account is equal to a walk over everything', (_, came) => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60, size: 'max' }), (commands) => {
      const state = new State(1)
      for (const one of commands)
        try {
          applied(state, came(one.decide(state, at(0)).changes), at(0))
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
        }
      const kinds = Object.keys(MEMORY_KINDS) as MemoryKind[]
      const accounted = Object.fromEntries(kinds.map((kind) => [kind, { ...state.memory.of(kind) }]))
      expect(accounted).toEqual(walked(state))
    }),
    { numRuns: 200 },
  )
})
