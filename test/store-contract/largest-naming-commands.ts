import type { Change } from '../../src/core/decisions/changes.ts'
import { confirmSilence, removeOrphan } from '../../src/core/cluster/judging/confirm-silence.ts'
import { restoreInstance } from '../../src/core/cluster/judging/restoring.ts'
import { forgetServer, noteServer } from '../../src/core/cluster/members/server-records.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../../src/core/naming/commands/housekeeping.ts'
import {
  deregisterInstance,
  liftSettings,
  modifyInstance,
  modifyOrRegister,
  setHealth,
} from '../../src/core/naming/commands/instance-commands.ts'
import { Liveness } from '../../src/core/naming/liveness/liveness.ts'
import { deleteMetadata, updateMetadata } from '../../src/core/naming/commands/metadata-commands.ts'
import { foundHealth } from '../../src/core/naming/commands/probe-verdict.ts'
import { importInstance, importService, keepMoved } from '../../src/core/naming/commands/import-naming.ts'
import { raiseLists } from '../../src/core/naming/commands/raise-lists.ts'
import { REMEMBERED_METADATA } from '../../src/core/naming/state/remembered-metadata.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { replaceInstances } from '../../src/core/naming/commands/replace-instances.ts'
import {
  createService,
  deleteService,
  saveCluster,
  updateService,
} from '../../src/core/naming/commands/service-commands.ts'
import { carryOutBatch } from '../../src/operations/naming/metadata-batches.ts'
import { serviceKey } from './samples.ts'
import { addressOf, type ServerOnStore } from './server-on-store.ts'

/** A command, or commands one after the other, at the largest that a caller can ask for. */
export interface LargestCase {
  /** The records that must be there before. */
  readonly before?: readonly Change[]
  /** The commands before, each for itself. */
  readonly prepare?: (server: ServerOnStore) => Promise<unknown>
  /** Does it as the server does. Rejects if it cannot be carried out. */
  readonly run: (server: ServerOnStore) => unknown
  /** The check afterwards. */
  readonly done?: (server: ServerOnStore) => boolean
}

export const BY = { ip: '10.1.2.3', user: 'u'.repeat(128) }
const SHOP = serviceKey('s'.repeat(400))
/** Of a name or a hash. */
export const LONG = 'x'.repeat(128)
export const MANY = 200
const PART_BYTES = 8 * 1024
const METADATA = { key: 'm'.repeat(PART_BYTES - 100) }
const PUBLISHER = { kind: 'connection', id: LONG } as const

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
export const nameOf = (index: number): string => `${LONG}${index}`

const target = (port: number) => ({ serviceKey: SHOP, address: addressOf(port), ephemeral: undefined })
const registration = (port: number, ephemeral: boolean) => ({
  serviceKey: SHOP,
  address: addressOf(port),
  ephemeral,
  weight: 1,
  enabled: true,
  healthy: undefined,
  metadata: METADATA,
  app: LONG,
})
const patch = { weight: 2, enabled: false, metadata: METADATA, maxMetadataBytes: 1e6, actor: BY }
const register = async ({ engine }: ServerOnStore, count: number, ephemeral = false) => {
  await Promise.all(
    numbers(count).map(async (port) => engine.execute(registerInstance(registration(port, ephemeral)))),
  )
}
const firstInstance = ({ state }: ServerOnStore) => state.instance(SHOP, addressOf(0))!
const settings = { protectThreshold: 0.5, metadata: METADATA, selector: undefined }
const cluster = {
  name: LONG,
  healthChecker: { type: 'HTTP', path: LONG, headers: `h:${'v'.repeat(8_000)}`, expectedResponseCode: 200 },
  checkPort: 80,
  useInstancePort4Check: true,
  metadata: METADATA,
} as const

/** Carries out a command by itself. */
export const alone =
  (command: () => Command<unknown>) =>
  async ({ engine }: ServerOnStore): Promise<unknown> =>
    engine.execute(command())
const each = async ({ engine }: ServerOnStore, commands: readonly Command<unknown>[]): Promise<void> => {
  for (const command of commands) await engine.execute(command)
}
const batch =
  (commandOf: typeof updateMetadata, more = {}) =>
  ({ engine, state, clock, loop }: ServerOnStore) => {
    const meant = { consistencyType: 'persist', instances: [], keys: { ...METADATA, ...more }, maxBytes: 1e6 }
    return carryOutBatch({ engine, state, clock, loop }, { serviceKey: SHOP, ...meant }, commandOf)
  }
/** Every command on services, instances and servers at its largest. */
export const LARGEST_OF_NAMING: Readonly<Record<string, LargestCase>> = {
  registerInstance: { run: (server) => register(server, 1) },
  deregisterInstance: {
    prepare: (server) => register(server, 1),
    run: alone(() => deregisterInstance(target(0))),
  },
  modifyInstance: {
    prepare: (server) => register(server, 1),
    run: alone(() => modifyInstance(target(0), patch)),
  },
  liftSettings: {
    prepare: async (server) => {
      await register(server, 1)
      await server.engine.execute(modifyInstance(target(0), patch))
    },
    run: alone(() => liftSettings(target(0))),
    done: ({ state }) => state.recordCount(REMEMBERED_METADATA) === 0,
  },
  modifyOrRegister: { run: alone(() => modifyOrRegister(target(0), patch)) },
  setHealth: {
    prepare: async (server) => {
      await register(server, 1)
      const unchecked = { ...cluster, name: 'DEFAULT', healthChecker: { type: 'NONE' } } as const
      await server.engine.execute(saveCluster(SHOP, unchecked))
    },
    run: alone(() => setHealth(target(0), false)),
  },
  foundHealth: {
    prepare: (server) => register(server, 1),
    run: async (server) => server.engine.execute(foundHealth(firstInstance(server), false)),
  },
  replaceInstances: {
    prepare: async ({ engine }) => engine.execute(replacement(numbers(engine.mostAtOnce), [])),
    run: async ({ engine }) => {
      const count = engine.mostAtOnce
      const half = Math.floor(count / 2)
      await engine.execute(
        replacement(
          numbers(half).map((port) => count + port),
          numbers(half),
        ),
      )
      await engine.execute(replacement([], numbers(count)))
    },
  },
  updateMetadata: { prepare: (server) => register(server, MANY), run: batch(updateMetadata, { other: '1' }) },
  deleteMetadata: {
    prepare: async (server) => {
      await register(server, MANY)
      await batch(updateMetadata, { other: '1' })(server)
    },
    run: batch(deleteMetadata),
  },
  importService: {
    run: alone(() =>
      importService(
        {
          key: SHOP,
          ...settings,
          selector: { type: 'none' },
          clusters: numbers(10).map((index) => ({ ...cluster, name: nameOf(index) })),
        },
        true,
      ),
    ),
  },
  importInstance: {
    run: alone(() => importInstance(registration(0, false), { overwrite: true, importer: 'p' })),
  },
  keepMoved: {
    prepare: alone(() => importInstance(registration(0, true), { overwrite: true, importer: 'p' })),
    run: alone(() => keepMoved(target(0))),
    done: ({ state }) => state.instance(SHOP, addressOf(0))?.record.publisher.kind === 'beats',
  },
  raiseLists: { run: alone(() => raiseLists(Date.now() + 30_000)) },
  createService: { run: alone(() => createService(SHOP, settings)) },
  updateService: {
    prepare: alone(() => createService(SHOP, settings)),
    run: alone(() => updateService(SHOP, { ...settings, protectThreshold: 1 })),
  },
  deleteService: {
    prepare: alone(() => createService(SHOP, settings)),
    run: alone(() => deleteService(SHOP)),
  },
  saveCluster: {
    prepare: (server) => register(server, 1),
    run: (server) =>
      each(
        server,
        numbers(10).map((index) => saveCluster(SHOP, { ...cluster, name: nameOf(index) })),
      ),
  },
  expireEmptyServices: {
    run: (server) => each(server, expireEmptyServices(liveness({ services: [SHOP] }), Infinity)),
  },
  forgetExpiredMetadata: {
    prepare: async (server) => {
      await register(server, MANY)
      await batch(updateMetadata, { other: '1' })(server)
      await Promise.all(
        numbers(MANY).map(async (port) => server.engine.execute(deregisterInstance(target(port)))),
      )
    },
    run: (server) => {
      const metadata = numbers(MANY).map((port) => ({ serviceKey: SHOP, address: addressOf(port) }))
      return each(server, forgetExpiredMetadata(liveness({ metadata }), Infinity))
    },
  },
  noteServer: { run: alone(() => noteServer(LONG, { ip: LONG, port: 1, site: LONG })) },
  forgetServer: {
    prepare: alone(() => noteServer(LONG, { ip: LONG, port: 1, site: LONG })),
    run: alone(() => forgetServer(LONG)),
  },
  // Without members nothing is judged here: what it has read is confirmed. It changes one instance.
  removeOrphan: {
    prepare: (server) => register(server, 1, true),
    run: async (server) =>
      server.engine.execute(
        removeOrphan(firstInstance(server), { liveness: new Liveness(), self: 'me', isMember: () => true }),
      ),
  },
  confirmSilence: {
    prepare: (server) => register(server, 1, true),
    run: async (server) => {
      const evidence = {
        instance: firstInstance(server),
        effect: 'removed',
        askedMs: 0,
        members: '',
      } as const
      const voter = { liveness: new Liveness(), self: 'me', isMember: () => true }
      return server.engine.execute(confirmSilence(evidence, voter))
    },
  },
  restoreInstance: {
    prepare: (server) => register(server, 1, true),
    run: async (server) => {
      const instance = firstInstance(server)
      await server.engine.execute(deregisterInstance(target(0)))
      return server.engine.execute(restoreInstance(instance))
    },
  },
}

function replacement(registered: readonly number[], leaving: readonly number[]) {
  return replaceInstances({
    serviceKey: SHOP,
    publisher: PUBLISHER,
    instances: registered.map((port) => {
      const { serviceKey: _, ephemeral: __, ...instance } = registration(port, true)
      return instance
    }),
    leaving: leaving.map((port) => addressOf(port)),
    takesOver: true,
    isGoodbye: true,
  })
}

function liveness({
  services = [],
  metadata = [],
}: {
  services?: unknown[]
  metadata?: unknown[]
}): Liveness {
  return { abandonedServices: () => services, absentMetadata: () => metadata } as never
}
