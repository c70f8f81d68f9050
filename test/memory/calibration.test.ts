/** The account of memory against a real process: within a quarter of its heap and of its memory outside of the heap. */
import { beforeAll, expect, test } from 'vitest'
import { addRole, createUser } from '../../src/core/access/access-commands.ts'
import { ROLE_PERMISSION, type RolePermission, SESSION } from '../../src/core/access/access-records.ts'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { viewOf } from '../../src/core/config/state/config-view.ts'
import { applied, WALL_MS } from '../../src/core/core.test-support.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { State } from '../../src/core/engine/state.ts'
import { updateMetadata } from '../../src/core/naming/commands/metadata-commands.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { createService } from '../../src/core/naming/commands/service-commands.ts'
import { createNamespace } from '../../src/core/namespaces/namespace-commands.ts'
import { recordSaved } from '../../src/core/records/record-kind.ts'
import { bytesInUse } from './bytes-in-use.ts'

/** A text of its own memory, as one that was read from a request; `wide`: two bytes for each character. */
function text(start: string, length = start.length, wide = false): string {
  return Buffer.from(`${wide ? '→' : ''}${start}`.padEnd(length, 'x')).toString()
}

const BY = { ip: '10.0.0.9', user: null }
const keyOf = (index: number) => {
  const [namespaceId, group, dataId] = ['public', 'DEFAULT_GROUP', text(`application-${index}.yml`)]
  return configKey(namespaceId, group, dataId)
}
const service = (index: number) => ({
  namespaceId: 'public',
  groupedName: text(`DEFAULT_GROUP@@service-${index}`),
})
const address = (index: number) => ({
  ip: text(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`),
  port: 8_080,
  cluster: 'DEFAULT',
})
const NOTES = {
  appName: '',
  desc: null,
  use: null,
  effect: null,
  schema: null,
  configTags: null,
  encryptedDataKey: '',
}

const publish = (index: number, bytes: number, notes = {}) =>
  publishConfig({
    key: keyOf(index),
    content: Buffer.allocUnsafeSlow(bytes),
    md5: text(`md5 ${index}`, 32),
    type: 'yaml',
    notes: { ...NOTES, ...notes },
    casMd5: undefined,
    operator: BY,
  })
const gray = (index: number, bytes: number, expr: string) =>
  publishGray({
    key: keyOf(index),
    name: 'beta',
    rule: { type: 'beta', version: '1.0.0', expr, priority: 1 },
    content: Buffer.alloc(bytes, 'x'),
    md5: text(`md5 ${index}`, 32),
    type: undefined,
    encryptedDataKey: '',
    casMd5: undefined,
    operator: BY,
  })
const register = (index: number, metadata: Record<string, string>) =>
  registerInstance({
    serviceKey: { namespaceId: 'public', groupedName: 'DEFAULT_GROUP@@orders' },
    address: address(index),
    ephemeral: true,
    weight: 1,
    enabled: true,
    healthy: true,
    metadata,
    app: '',
  })
const remember = (index: number, value: string) =>
  updateMetadata({
    serviceKey: { namespaceId: 'public', groupedName: 'DEFAULT_GROUP@@orders' },
    consistencyType: undefined,
    instances: [{ ...address(index), ephemeral: true }],
    keys: { note: value },
    maxBytes: 10_000,
  })
const saved = (change: Change): Command<unknown> => ({
  subject: '',
  decide: () => ({ changes: [change], durability: 'synced', outcome: undefined }),
})
const SETTINGS = { protectThreshold: undefined, metadata: undefined, selector: undefined }
const ADDRESSES = Array.from({ length: 600 }, (_, index) => `10.0.${index >> 8}.${index & 255}`).join(',')

/** Each with how many there are, and the commands that make one. */
const KINDS: Record<string, { count: number; make: (index: number) => Command<unknown>[] }> = {
  'small items': { count: 10_000, make: (index) => [publish(index, 1)] },
  'items with a large schema': {
    count: 1_000,
    make: (index) => [publish(index, 1, { schema: text(`${index}`, 32_768, true) })],
  },
  'items with a large content': { count: 1_000, make: (index) => [publish(index, 100_000)] },
  'small gray versions': { count: 10_000, make: (index) => [gray(index, 1, text('10.0.0.1'))] },
  'large gray versions': { count: 1_000, make: (index) => [gray(index, 100_000, text('10.0.0.1'))] },
  'gray rules': { count: 1_000, make: (index) => [gray(index, 1, text(ADDRESSES))] },
  'deleted items': { count: 10_000, make: (index) => [publish(index, 1), deleteConfig(keyOf(index), BY)] },
  'deleted items with a description': {
    count: 1_000,
    make: (index) => [
      publish(index, 1, { desc: text(`${index}`, 8_000, true) }),
      deleteConfig(keyOf(index), BY),
    ],
  },
  services: { count: 10_000, make: (index) => [createService(service(index), SETTINGS)] },
  'services with metadata': {
    count: 1_000,
    make: (index) => [
      createService(service(index), { ...SETTINGS, metadata: { a: text(`${index}`, 8_000, true) } }),
    ],
  },
  'small instances': { count: 20_000, make: (index) => [register(index, JSON.parse('{}'))] },
  'instances with metadata': {
    count: 2_000,
    make: (index) => [register(index, { a: text(`${index}`, 8_000, true) })],
  },
  'instances with keys of their own': {
    count: 400,
    make: (index) => [
      register(
        index,
        JSON.parse(
          `{${Array.from({ length: 12 }, (_, key) => `"k${index}_${key}":"some value ${key}"`).join()}}`,
        ),
      ),
    ],
  },
  'remembered metadata': {
    count: 2_000,
    make: (index) => [register(index, {}), remember(index, text(`${index}`, 4_000, true))],
  },
  users: {
    count: 10_000,
    make: (index) => [createUser({ username: text(`user-${index}`), passwordHash: text(`${index}`, 97) })],
  },
  permissions: {
    count: 10_000,
    make: (index) => {
      const value = {
        role: text(`role-${index}`),
        resource: text(`public:group-${index}:config/*`),
        action: 'rw',
      }
      return [
        saved(
          recordSaved(ROLE_PERMISSION, {
            id: text(JSON.stringify(Object.values(value))),
            value: value as RolePermission,
            stamp: 1,
          }),
        ),
      ]
    },
  },
  roles: {
    count: 2_000,
    make: (index) => [
      createUser({ username: text(`user-${index}`), passwordHash: text(`${index}`, 97) }),
      addRole({ username: text(`user-${index}`), role: text(`role-${index}`) }),
    ],
  },
  sessions: {
    count: 10_000,
    make: (index) => {
      const value = {
        username: text(`user-${index}`),
        credentialStamp: 2 ** 51 + index,
        createdMs: WALL_MS + index,
        usedMs: WALL_MS,
      }
      return [saved(recordSaved(SESSION, { id: text(`${index}`, 43), value, stamp: 1 }))]
    },
  },
  namespaces: {
    count: 10_000,
    make: (index) => [
      createNamespace({
        id: text(`namespace-${index}`),
        showName: text(`Name ${index}`),
        desc: text(`About ${index}`),
      }),
    ],
  },
}

// The modules of the test itself leave garbage too.
beforeAll(bytesInUse)

test.each(Object.entries(KINDS))(
  '%s take as much memory as the account says',
  async (name, { count, make }) => {
    let stamp = WALL_MS * 1_024
    let state: State | undefined = new State(WALL_MS)
    for (let index = 0; index < count; index++)
      for (const command of make(index)) {
        const now = { wallMs: WALL_MS, healthMs: 0, stamp: (stamp += 4) }
        applied(state, command.decide(state, now).changes, now)
        viewOf(state, keyOf(index), BY)
      }
    const held = await bytesInUse()
    const { heap, external } = state.memory.total
    state = undefined
    // What was collected late, of the test before, is in neither figure.
    const real = held - (await bytesInUse())
    const ratio = (heap + external) / real
    const bytes = `${name}: ${Math.round((heap + external) / count)} bytes each, of ${Math.round(real / count)}`
    expect(ratio, bytes).toBeGreaterThan(0.75)
    expect(ratio, bytes).toBeLessThan(1.25)
  },
)
