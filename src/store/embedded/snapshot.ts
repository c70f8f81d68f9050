import { type ConfigItem, configKey, type ConfigType } from '../../core/config/config-item.ts'
import { NO_NOTES, notesWith } from '../../core/config/config-notes.ts'
import type { InstanceAddress } from '../../core/naming/instance.ts'
import { type Service, SERVICE_DEFAULTS, type ServiceKey } from '../../core/naming/service.ts'
import type { Namespace } from '../../core/namespaces/namespace.ts'
import type { Revision, Snapshot, StoredInstance, StoredMetadata } from '../../core/ports.ts'
import type { SwitchPatch } from '../../core/operator/switches.ts'
import { instanceOfText } from './instance-text.ts'
import type { LoadBatch, Plain } from './messages.ts'

const DEFAULT_TEXTS = new Map<object, string>(
  [SERVICE_DEFAULTS.metadata, SERVICE_DEFAULTS.selector, SERVICE_DEFAULTS.clusters].map((value) => [
    value,
    JSON.stringify(value),
  ]),
)

/** Makes the snapshot of the batches of a load. */
export class SnapshotBuilder {
  readonly #configs: ConfigItem[] = []
  readonly #namespaces: Namespace[] = []
  readonly #services: Service[] = []
  readonly #instances: StoredInstance[] = []
  readonly #remembered: StoredMetadata[] = []
  readonly #serviceKeys = new Map<number, ServiceKey>()
  #switches: SwitchPatch = {}

  /** Takes the next batch; services come before instances. */
  add(batch: LoadBatch): void {
    switch (batch.kind) {
      case 'configs':
        for (const row of batch.rows) this.#configs.push(configOf(row, batch.contents))
        return
      case 'namespaces':
        for (const row of batch.rows) this.#namespaces.push(namespaceOf(row))
        return
      case 'services':
        for (const row of batch.rows) this.#addService(serviceOf(row))
        return
      case 'instances':
        for (const row of batch.rows) this.#addInstance(row)
        return
      case 'remembered':
        for (const row of batch.rows) this.#remembered.push(rememberedOf(row))
        return
      case 'settled':
        this.#switches = JSON.parse(batch.switchesJson)
    }
  }

  /** Everything taken so far, which is everything up to a revision. */
  snapshot(revision: Revision): Snapshot {
    return {
      configs: this.#configs,
      namespaces: this.#namespaces,
      services: this.#services,
      // By serial: lists keep the order of registration over a restart.
      instances: this.#instances,
      remembered: this.#remembered,
      switches: this.#switches,
      revision,
      // Revisions follow the stamps.
      largestStamp: revision,
    }
  }

  #addService(service: Service): void {
    this.#services.push(service)
    this.#serviceKeys.set(service.serial, service.key)
  }

  #addInstance([serial, serviceSerial, healthy, text]: readonly Plain[]): void {
    const serviceKey = this.#serviceKeys.get(Number(serviceSerial))
    if (serviceKey === undefined) return
    const record = instanceOfText(Number(serial), String(text))
    this.#instances.push({ serviceKey, record, healthy: healthy === 1 })
  }
}

function configOf(row: readonly Plain[], contents: ArrayBuffer): ConfigItem {
  const [namespaceId, group, dataId, ...rest] = row
  const [id, historyId, createdMs, createUser, createIp, desc, use, effect, schema, configTags, ...version] =
    rest
  const [md5, type, appName, encryptedDataKey, , , modifiedMs, contentAt, contentLength] = version
  const notes = {
    appName: String(appName),
    desc: text(desc),
    use: text(use),
    effect: text(effect),
    schema: text(schema),
    configTags: text(configTags),
    encryptedDataKey: String(encryptedDataKey),
  }
  return {
    key: configKey(String(namespaceId), String(group), String(dataId)),
    origin: {
      id: Number(id),
      createdMs: Number(createdMs),
      createUser: text(createUser),
      createIp: String(createIp),
    },
    historyId: Number(historyId),
    content: Buffer.from(contents, Number(contentAt), Number(contentLength)),
    md5: String(md5),
    type: type as ConfigType,
    notes: notesWith(NO_NOTES, notes),
    modifiedMs: Number(modifiedMs),
  }
}

function namespaceOf([id, showName, desc]: readonly Plain[]): Namespace {
  return { id: String(id), showName: String(showName), desc: String(desc) }
}

function serviceOf(row: readonly Plain[]): Service {
  const [serial, namespaceId, groupedName, protectThreshold, madeBy, selector, clusters, metadata] = row
  return {
    key: { namespaceId: String(namespaceId), groupedName: String(groupedName) },
    serial: Number(serial),
    protectThreshold: Number(protectThreshold),
    metadata: parsedOr(metadata, SERVICE_DEFAULTS.metadata),
    selector: parsedOr(selector, SERVICE_DEFAULTS.selector),
    clusters: parsedOr(clusters, SERVICE_DEFAULTS.clusters),
    madeBy: madeBy as Service['madeBy'],
  }
}

function rememberedOf([
  namespaceId,
  groupedName,
  ip,
  port,
  cluster,
  metadata,
]: readonly Plain[]): StoredMetadata {
  return {
    serviceKey: { namespaceId: String(namespaceId), groupedName: String(groupedName) },
    address: addressOf([ip, port, cluster]),
    metadata: parsed(metadata),
  }
}

function addressOf([ip, port, cluster]: readonly (Plain | undefined)[]): InstanceAddress {
  return { ip: String(ip), port: Number(port), cluster: String(cluster) }
}

function text(value: Plain | undefined): string | null {
  return value === undefined || value === null ? null : String(value)
}

/** A part of a service, the shared default where it is just that. */
function parsedOr<T extends object>(value: Plain | undefined, usual: T): T {
  return value === DEFAULT_TEXTS.get(usual) ? usual : parsed(value)
}

/** Our own JSON, checked by its row's checksum. */
function parsed<T>(value: Plain | undefined): T {
  return JSON.parse(String(value)) as T
}
