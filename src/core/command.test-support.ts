import {
  type Arbitrary,
  boolean,
  constant,
  constantFrom,
  oneof,
  record,
  tuple,
  uniqueArray,
} from 'fast-check'
import { configKey } from './config/state/config-item.ts'
import { deleteConfig, publishConfig } from './config/commands/publish-config.ts'
import { address, ORDERS, publishing, registration } from './core.test-support.ts'
import type { Command } from './decisions/decision.ts'
import { createNamespace, deleteNamespace, updateNamespace } from './namespaces/namespace-commands.ts'
import { deregisterInstance, modifyInstance, setHealth } from './naming/commands/instance-commands.ts'
import { deleteMetadata, updateMetadata } from './naming/commands/metadata-commands.ts'
import { BEATS, OPERATOR, type Publisher } from './naming/state/instance.ts'
import { registerInstance } from './naming/commands/register-instance.ts'
import { replaceInstances } from './naming/commands/replace-instances.ts'
import {
  createService,
  deleteService,
  saveCluster,
  updateService,
} from './naming/commands/service-commands.ts'
import { setSwitch } from './operator/set-switch.ts'

const BILLS = { namespaceId: 'dev', groupedName: 'DEFAULT_GROUP@@bills' }
const serviceKey = constantFrom(ORDERS, BILLS)
const place = record({ port: constantFrom(80, 81), cluster: constantFrom('DEFAULT', 'c1') }).map(address)
const publisher = constantFrom<Publisher>(BEATS, OPERATOR, { kind: 'connection', id: '1' })
const kind = constantFrom(true, false, undefined)
const metadata = constantFrom<Record<string, string>>(
  {},
  { zone: 'a' },
  { zone: 'b', rack: '1' },
  { rack: '2' },
)
const key = tuple(constantFrom('public', 'dev'), constantFrom('a', 'b')).map(([namespaceId, dataId]) =>
  configKey(namespaceId, 'G', dataId),
)
const namespace = record({
  id: constantFrom('dev', 'test'),
  showName: constantFrom('x', 'y'),
  desc: constant(''),
})
const batch = record({
  serviceKey,
  consistencyType: constantFrom('ephemeral', 'persist', undefined),
  instances: place.map((where) => [{ ...where, ephemeral: true }]),
  keys: metadata,
  maxBytes: constant(1_000),
})
const target = record({ serviceKey, address: place, ephemeral: kind })
const patch = record({
  weight: constantFrom(1, 2, undefined),
  enabled: constantFrom(true, false, undefined),
  metadata: oneof(metadata, constant(undefined)),
  maxMetadataBytes: constant(1_000),
})
const settings = record({
  protectThreshold: constantFrom(0.5, undefined),
  metadata: oneof(metadata, constant(undefined)),
  selector: constant(undefined),
})
const cluster = record({
  name: constantFrom('DEFAULT', 'c1'),
  healthChecker: constantFrom({ type: 'NONE' } as const, { type: 'TCP' } as const),
  checkPort: constant(80),
  useInstancePort4Check: boolean(),
  metadata: constant({}),
})

const instanceCommand: Arbitrary<Command<unknown>> = oneof(
  record({
    serviceKey,
    address: place,
    ephemeral: kind,
    healthy: constantFrom(true, false, undefined),
    metadata,
    weight: constantFrom(1, 2),
  }).map((other) => registerInstance(registration(other))),
  target.map(deregisterInstance),
  record({
    serviceKey,
    publisher,
    addresses: uniqueArray(place, { maxLength: 3 }),
    leaving: uniqueArray(place, { maxLength: 3 }),
    takesOver: boolean(),
    isGoodbye: boolean(),
  }).map(({ addresses, ...one }) =>
    replaceInstances({ ...one, instances: addresses.map((where) => registration({ address: where })) }),
  ),
  record({ target, patch }).map((one) => modifyInstance(one.target, one.patch)),
  record({ target, healthy: boolean() }).map((one) => setHealth(one.target, one.healthy)),
  batch.map(updateMetadata),
  batch.map(deleteMetadata),
)

const otherCommand: Arbitrary<Command<unknown>> = oneof(
  record({ key, content: constantFrom('one', 'two'), casMd5: constantFrom('', 'md5 of one', undefined) }).map(
    ({ content, ...other }) => publishConfig(publishing(content, other)),
  ),
  key.map((one) => deleteConfig(one, { ip: '', user: null })),
  namespace.map(createNamespace),
  namespace.map(updateNamespace),
  constantFrom('dev', 'public').map(deleteNamespace),
  record({ serviceKey, settings }).map((one) => createService(one.serviceKey, one.settings)),
  record({ serviceKey, settings }).map((one) => updateService(one.serviceKey, one.settings)),
  serviceKey.map(deleteService),
  record({ serviceKey, cluster }).map((one) => saveCluster(one.serviceKey, one.cluster)),
  record({
    entry: constantFrom('pushEnabled', 'disableAddIP', 'check', 'defaultInstanceEphemeral'),
    text: constantFrom('true', 'false'),
    localOnly: boolean(),
  }).map((one) => setSwitch(one.entry, one.text, one.localOnly)),
)

/** Commands of every kind on a few things, so that they meet. */
export const anyCommand: Arbitrary<Command<unknown>> = oneof(
  { weight: 3, arbitrary: instanceCommand },
  { weight: 2, arbitrary: otherCommand },
)
