import type { ConfigItem, ConfigKey } from '../config/state/config-item.ts'
import type { Change } from '../decisions/changes.ts'
import type { InstanceAddress, InstanceRecord } from '../naming/state/instance.ts'
import type { Service, ServiceKey } from '../naming/state/service.ts'
import { type RecordKind, recordKindNamed } from '../records/record-kind.ts'
import { type Bytes, hasSameFields, textBytes } from './bytes-of.ts'
import { configBytes, instanceBytes, instanceGrowth, recordBytes, serviceBytes } from './bytes-of-things.ts'
import { MEMORY_KINDS, type MemoryKind, memoryKindOf, type MemoryPart } from './memory-kinds.ts'

/** The part of the state that a change may replace. */
export interface ReplacedThings {
  config(key: ConfigKey): ConfigItem | undefined
  service(key: ServiceKey): Service | undefined
  instance(key: ServiceKey, address: InstanceAddress): { readonly record: InstanceRecord } | undefined
  record<T>(kind: RecordKind<T>, id: string): T | undefined
}

interface Sum {
  heap: number
  external: number
}

const NOTHING: Bytes = { heap: 0, external: 0 }

/**
 * The memory of everything in State, by kind. State changes it with each change, and nobody walks over State for it. It
 * depends on the things alone: it is equal on all servers at one revision.
 */
export class MemoryAccount {
  readonly #byKind = new Map<MemoryKind, Sum>()
  readonly #byPart = new Map<MemoryPart, Sum>()
  readonly #total = { heap: 0, external: 0 }

  /** The bytes of all kinds. */
  get total(): Bytes {
    return this.#total
  }

  /** The bytes of a kind. */
  of(kind: MemoryKind): Bytes {
    return this.#byKind.get(kind) ?? NOTHING
  }

  /** The bytes of a part. */
  ofPart(part: MemoryPart): Bytes {
    return this.#byPart.get(part) ?? NOTHING
  }

  /** Counts `bytes` more of a kind; `sign` -1: less. */
  add(kind: MemoryKind, bytes: Bytes, sign: 1 | -1 = 1): void {
    for (const sum of [sumAt(this.#byKind, kind), sumAt(this.#byPart, MEMORY_KINDS[kind]), this.#total]) {
      sum.heap += sign * bytes.heap
      sum.external += sign * bytes.external
    }
  }

  /** Counts a change, before `state` applies it. */
  see(change: Change, state: ReplacedThings): void {
    const grown = growthOf(change, state)
    if (grown !== NOTHING) this.add(memoryKindOf(change), grown)
  }
}

/** By how many bytes a change makes its thing larger; negative: smaller. Merged metadata is not in it. */
export function growthOf(change: Change, state: ReplacedThings): Bytes {
  switch (change.kind) {
    case 'config-published':
      return configGrowth(change.item, state.config(change.item.key))
    case 'config-deleted':
      return difference(NOTHING, configOf(change.key, state))
    case 'service-saved':
      return heapDifference(serviceBytes(change.service), serviceOf(change.service.key, state))
    case 'service-deleted':
      return heapDifference(0, serviceOf(change.key, state))
    case 'instance-saved': {
      const known = state.instance(change.serviceKey, change.record.address)
      if (known !== undefined) return heapDifference(instanceGrowth(known.record, change.record), 0)
      return change.beat ? heapDifference(instanceBytes(change.record), 0) : NOTHING
    }
    case 'instance-removed': {
      const known = state.instance(change.serviceKey, change.address)
      return known === undefined ? NOTHING : heapDifference(0, instanceBytes(known.record))
    }
    case 'record-saved': {
      const { recordKind, id, value } = change
      return difference(recordBytes(recordKind, id, value), recordOf(recordKind, id, state))
    }
    case 'record-removed':
      return difference(NOTHING, recordOf(change.recordKind, change.id, state))
    case 'instance-health-changed':
    case 'history-imported':
      return NOTHING
  }
}

function sumAt<K>(sums: Map<K, Sum>, key: K): Sum {
  const known = sums.get(key)
  if (known !== undefined) return known
  const sum = { heap: 0, external: 0 }
  sums.set(key, sum)
  return sum
}

function configGrowth(item: ConfigItem, before: ConfigItem | undefined): Bytes {
  if (before !== undefined && isSameBesidesContent(item, before))
    return { heap: 0, external: item.content.length - before.content.length }
  return difference(configBytes(item), before === undefined ? NOTHING : configBytes(before))
}

/** A publish of a new content leaves the others as they are: then only the md5 is measured. */
function isSameBesidesContent(a: ConfigItem, b: ConfigItem): boolean {
  const isSame = hasSameFields(a.origin, b.origin) && hasSameFields(a.notes, b.notes)
  return isSame && a.imported === b.imported && textBytes(a.md5) === textBytes(b.md5)
}

function configOf(key: ConfigKey, state: ReplacedThings): Bytes {
  const item = state.config(key)
  return item === undefined ? NOTHING : configBytes(item)
}

function serviceOf(key: ServiceKey, state: ReplacedThings): number {
  const service = state.service(key)
  return service === undefined ? 0 : serviceBytes(service)
}

function recordOf(name: string, id: string, state: ReplacedThings): Bytes {
  const kind = recordKindNamed(name)
  const value = kind && state.record(kind, id)
  return value === undefined ? NOTHING : recordBytes(name, id, value)
}

function difference(after: Bytes, before: Bytes): Bytes {
  return { heap: after.heap - before.heap, external: after.external - before.external }
}

function heapDifference(after: number, before: number): Bytes {
  return { heap: after - before, external: 0 }
}
