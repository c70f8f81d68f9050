import { USER } from '../access/access-records.ts'
import type { ConfigItem } from '../config/state/config-item.ts'
import { DELETED_CONFIG } from '../config/state/deleted-config.ts'
import { GRAY } from '../config/state/gray-version.ts'
import type { Claim, InstanceRecord, Metadata } from '../naming/state/instance.ts'
import { REMEMBERED_METADATA, type RememberedMetadata } from '../naming/state/remembered-metadata.ts'
import type { Service } from '../naming/state/service.ts'
import {
  type Bytes,
  bytesOf,
  hasSameFields,
  MAP_ENTRY_BYTES,
  namedTextsBytes,
  namedTextsGrowth,
  textBytes,
} from './bytes-of.ts'

// The constants are the objects of a thing without its texts, with its places in the tables of State and of liveness. They
// were measured: test/memory/calibration.test.ts compares them with a process.

const CONFIG_BYTES = 600
/** The mark of an import. */
const MARK_BYTES = 40
const SERVICE_BYTES = 310
const INSTANCE_BYTES = 290
/** Its object, its place in a list, and its publisher. */
const CLAIM_BYTES = 160
const RECORD_BYTES = MAP_ENTRY_BYTES
/** An item with gray versions is in two tables of its own, and its view is kept. */
const GRAY_ITEM_BYTES = 350

/** The bytes of an item with its content. */
export function configBytes({ key, origin, content, md5, notes, imported }: ConfigItem): Bytes {
  const { namespaceId, group, dataId, text } = key
  const texts = [namespaceId, group, dataId, text, md5, origin.createIp, origin.createUser ?? '']
  let heap = CONFIG_BYTES
  for (const one of texts) heap += textBytes(one)
  for (const one of Object.values(notes) as (string | null)[]) if (one !== null) heap += textBytes(one)
  if (imported !== undefined)
    heap += MARK_BYTES + textBytes(imported.importedId) + textBytes(imported.importedUpTo ?? '')
  return { heap, external: content.length }
}

/** The bytes of a service without its instances. */
export function serviceBytes({ key, metadata, selector, clusters }: Service): number {
  let heap = SERVICE_BYTES + textBytes(key.namespaceId) + textBytes(key.groupedName)
  heap += namedTextsBytes(metadata) + bytesOf(selector).heap
  for (const [name, cluster] of Object.entries(clusters)) {
    const { metadata: labels, ...rest } = cluster
    heap += MAP_ENTRY_BYTES + textBytes(name) + namedTextsBytes(labels) + bytesOf(rest).heap
  }
  return heap
}

/** The bytes of an instance, with the claims to its address. */
export function instanceBytes({ address, publisher, registered, app, claims }: InstanceRecord): number {
  const own = publisher.kind === 'connection' ? MAP_ENTRY_BYTES + textBytes(publisher.id) : 0
  const texts = textBytes(address.ip) + textBytes(address.cluster) + textBytes(app)
  const waiting = claims === undefined ? 0 : claims.reduce((sum, claim) => sum + claimBytes(claim), 0)
  return INSTANCE_BYTES + texts + own + waiting + namedTextsBytes(registered)
}

/** By how many bytes an instance grows that is there. A registration that repeats another one differs in metadata alone. */
export function instanceGrowth(before: InstanceRecord, after: InstanceRecord): number {
  const isSame =
    hasSameFields(before.address, after.address) &&
    hasSameFields(before.publisher, after.publisher) &&
    before.app === after.app &&
    before.claims === after.claims
  if (isSame) return namedTextsGrowth(before.registered, after.registered)
  return instanceBytes(after) - instanceBytes(before)
}

function claimBytes({ publisher, registered, app }: Claim): number {
  const own = publisher.kind === 'connection' ? MAP_ENTRY_BYTES + textBytes(publisher.id) : 0
  return CLAIM_BYTES + own + textBytes(app) + namedTextsBytes(registered)
}

/** The bytes of metadata that consists of texts of others: remembered keys over registered ones. */
export function mergedBytes(metadata: Metadata): number {
  let bytes = 64
  for (const _name in metadata) bytes += 24
  return bytes
}

/** The bytes of a small record of any kind. */
export function recordBytes(recordKind: string, id: string, value: unknown): Bytes {
  const { heap, external } = bytesOf(value)
  return { heap: RECORD_BYTES + textBytes(id) + heap + moreOf(recordKind, id, value), external }
}

function moreOf(recordKind: string, id: string, value: unknown): number {
  if (recordKind === REMEMBERED_METADATA.name) {
    const { metadata, silenced } = value as RememberedMetadata
    const texts = silenced === undefined ? [metadata] : [metadata, silenced.registered]
    return texts.reduce((sum, one) => sum + namedTextsBytes(one) - bytesOf(one).heap, 0)
  }
  // The id is also the text of the key, or the name in the value.
  if (recordKind === DELETED_CONFIG.name || recordKind === USER.name) return -textBytes(id)
  return recordKind === GRAY.name ? GRAY_ITEM_BYTES : 0
}
