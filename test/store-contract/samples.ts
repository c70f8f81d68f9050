import { createHash } from 'node:crypto'
import type { AuditEvent, AuditSearch } from '../../src/core/audit/audit-event.ts'
import type {
  Change,
  ConfigDeleted,
  ConfigPublished,
  HistoryImported,
  InstanceSaved,
  ServiceSaved,
} from '../../src/core/decisions/changes.ts'
import { type ConfigItem, type ConfigKey, configKey } from '../../src/core/config/state/config-item.ts'
import { type ConfigNotes, NO_NOTES } from '../../src/core/config/state/config-notes.ts'
import type { HistoryRecord } from '../../src/core/config/state/history-record.ts'
import { BEATS, type InstanceRecord } from '../../src/core/naming/state/instance.ts'
import type { Service, ServiceKey } from '../../src/core/naming/state/service.ts'
import type { ChangeGroup, Revision, Store } from '../../src/core/engine/ports.ts'
import { historyIdOf, itemIdOf, Stamps } from '../../src/core/decisions/stamps.ts'

/** A time that all samples count from, epoch milliseconds. */
export const START_MS = 1_795_000_000_000

/** The stamps of all samples. */
export const stamps = new Stamps()

const OPERATOR = { ip: '10.1.2.3', user: 'ada' }

/** A key in the group `g` of the default namespace. */
export function sampleKey(dataId: string): ConfigKey {
  return configKey('public', 'g', dataId)
}

/** The notes that a published version may have; the rest is sampled. */
export interface Version {
  readonly content: string | Buffer
  readonly previous?: ConfigItem | undefined
  readonly atMs?: number
  readonly type?: ConfigItem['type']
  readonly notes?: Partial<ConfigNotes>
}

/** A publish of the item: its first version, or the one after `previous`. */
export function published(key: ConfigKey, version: Version): ConfigPublished {
  const { previous, atMs = START_MS, type = 'text' } = version
  const content = Buffer.from(version.content)
  const stamp = stamps.next(atMs)
  const item: ConfigItem = {
    key,
    origin: previous?.origin ?? {
      id: itemIdOf(stamp),
      createdMs: atMs,
      createUser: 'ada',
      createIp: '10.1.2.3',
    },
    historyId: historyIdOf(stamp),
    content,
    md5: createHash('md5').update(content).digest('hex'),
    type,
    notes: { ...NO_NOTES, ...version.notes },
    modifiedMs: atMs,
  }
  return {
    kind: 'config-published',
    op: previous === undefined ? 'I' : 'U',
    item,
    previous,
    operator: OPERATOR,
  }
}

/** A record that a name had elsewhere, which has no item here. */
export function imported(
  key: ConfigKey,
  record: Partial<HistoryRecord> & Pick<HistoryRecord, 'content'>,
): HistoryImported {
  const facts = { op: 'U', type: 'yaml', appName: 'x', encryptedDataKey: '', srcIp: '10.1.2.3' } as const
  const stamp = stamps.next(START_MS)
  const md5 = createHash('md5').update(record.content).digest('hex')
  const made = { id: historyIdOf(stamp), key, md5, srcUser: 'ada', atMs: START_MS }
  return { kind: 'history-imported', record: { ...made, ...facts, ...record } }
}

/** The deletion of an item. */
export function deleted(item: ConfigItem, atMs = START_MS): ConfigDeleted {
  const historyId = historyIdOf(stamps.next(atMs))
  return { kind: 'config-deleted', key: item.key, deleted: item, operator: OPERATOR, atMs, historyId }
}

/** A service with everything that a service can have. */
export function sampleService(name: string, serial: number): Service {
  return {
    key: serviceKey(name),
    serial,
    protectThreshold: 0.25,
    metadata: { owner: 'ops', grün: '✓' },
    selector: { type: 'label', expression: 'CONSUMER.label.zone = PROVIDER.label.zone' },
    clusters: {
      DEFAULT: {
        name: 'DEFAULT',
        healthChecker: { type: 'HTTP', path: '/ok', headers: 'a:b', expectedResponseCode: 204 },
        checkPort: 80,
        useInstancePort4Check: true,
        metadata: { zone: 'a' },
      },
      db: {
        name: 'db',
        healthChecker: { type: 'MYSQL', user: 'u', pwd: 'p', cmd: '', publicKey: 'k', ca: 'c' },
        checkPort: 3306,
        useInstancePort4Check: false,
        metadata: {},
      },
    },
    madeBy: 'operator',
  }
}

/** The key of a service in the default group and namespace. */
export function serviceKey(name: string): ServiceKey {
  return { namespaceId: 'public', groupedName: `DEFAULT_GROUP@@${name}` }
}

/** A service written. */
export function serviceSaved(service: Service): ServiceSaved {
  return { kind: 'service-saved', service, stamp: stamps.next(START_MS) }
}

/** The record of an instance at 10.0.0.1:`port`, whose serial is its port. */
export function sampleInstance(port: number): InstanceRecord {
  return {
    address: { ip: '10.0.0.1', port, cluster: 'DEFAULT' },
    serial: port,
    ephemeral: true,
    publisher: BEATS,
    weight: 1.5,
    enabled: true,
    registered: { zone: 'a', note: 'two\nlines' },
    app: 'shop',
  }
}

/** An instance of a service written. */
export function instanceSaved(service: Service, record: InstanceRecord, healthy?: boolean): InstanceSaved {
  const { key, serial } = service
  return {
    kind: 'instance-saved',
    serviceKey: key,
    serviceSerial: serial,
    record,
    healthy,
    beat: true,
    stamp: stamps.next(START_MS),
  }
}

/** A change that nobody can modify any more. The bytes of a content cannot be frozen. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  Object.values(value).forEach(deepFrozen)
  return Object.freeze(value)
}

/** Commits every change as a group of its own; answers the revision, and throws unless all are committed. */
export async function commitAll(store: Pick<Store, 'commit'>, ...changes: Change[]): Promise<Revision> {
  const groups: ChangeGroup[] = changes.map((change) => [deepFrozen(change)])
  const result = await store.commit(groups)
  if (result.kind === 'failed') throw result.error
  return result.revision
}

/** Publishes `contents` one after another, a second apart; answers the versions. */
export function publishAll(store: Store, key: ConfigKey, contents: readonly string[]): Promise<ConfigItem[]> {
  return writeVersions({ write: (change) => commitAll(store, change) }, key, contents)
}

/** Writes `contents` one after another, as versions a second apart; answers the versions. */
export async function writeVersions(
  store: { write(change: Change): Promise<unknown> },
  key: ConfigKey,
  contents: readonly string[],
): Promise<ConfigItem[]> {
  const versions: ConfigItem[] = []
  for (const [index, content] of contents.entries()) {
    const change = published(key, { content, previous: versions.at(-1), atMs: START_MS + index * 1_000 })
    await store.write(change)
    versions.push(change.item)
  }
  return versions
}

/** A search that finds every event of the audit. */
export const ANY_EVENT: AuditSearch = {
  username: undefined,
  operation: undefined,
  itemPart: undefined,
  ip: undefined,
  result: undefined,
  fromMs: undefined,
  toMs: undefined,
  before: undefined,
}

/** An event of the audit, or what differs from it. */
export function sampleEvent(other: Partial<AuditEvent> = {}): AuditEvent {
  const { atMs = START_MS } = other
  return {
    id: stamps.next(atMs),
    atMs,
    username: 'ann',
    by: 'token',
    ip: '10.0.0.1',
    operation: 'publish config',
    item: 'public:g:config/a',
    result: 'done',
    code: '',
    detail: '',
    count: 1,
    ...other,
  }
}
