import type { Change } from './changes.ts'
import { addressText } from './naming/instance.ts'
import { serviceKeyText } from './naming/service.ts'
import type { Snapshot, StoredInstance } from './ports.ts'
import { ELECTION, MEMBER } from './cluster/member-records.ts'
import { STORED_KINDS } from './records/stored-kinds.ts'
import { historyIdOf } from './stamps.ts'
import type { State } from './state.ts'

/** Members are stored only where several servers share a store. */
const SHARED_KINDS = [...STORED_KINDS, MEMBER, ELECTION]
const NOBODY = { ip: '', user: null } as const

/**
 * The changes that make a state what a snapshot is: for a server that could not follow its store for a while. Services and
 * records are saved again also where nothing differs; an item is not, so that nobody who listens to it is woken.
 */
export function differenceTo(snapshot: Snapshot, state: State, stamp: number): Change[] {
  return [
    ...configDifference(snapshot, state, stamp),
    ...recordDifference(snapshot, state, stamp),
    ...namingDifference(snapshot, state, stamp),
  ]
}

function* configDifference({ configs }: Snapshot, state: State, stamp: number): Generator<Change> {
  const there = new Set(configs.map(({ key }) => key.text))
  for (const deleted of state.configs.all())
    if (!there.has(deleted.key.text)) {
      const { key, modifiedMs: atMs } = deleted
      yield { kind: 'config-deleted', key, deleted, operator: NOBODY, atMs, historyId: historyIdOf(stamp) }
    }
  for (const item of configs) {
    const previous = state.config(item.key)
    if (previous?.historyId === item.historyId) continue
    const op = previous === undefined ? 'I' : 'U'
    yield { kind: 'config-published', op, item, previous, operator: NOBODY }
  }
}

function* recordDifference({ records }: Snapshot, state: State, stamp: number): Generator<Change> {
  for (const { name, isLocal, decode } of SHARED_KINDS) {
    const stored = records.filter(({ recordKind }) => recordKind === name)
    const there = new Set(stored.map(({ id }) => id))
    for (const [id] of state.records({ name, isLocal, decode }))
      if (!there.has(id)) yield { kind: 'record-removed', recordKind: name, id, stamp }
    for (const record of stored) yield { kind: 'record-saved', ...record, stamp }
  }
}

function* namingDifference(snapshot: Snapshot, state: State, stamp: number): Generator<Change> {
  const services = new Set(snapshot.services.map(({ key }) => serviceKeyText(key)))
  const instances = new Map(snapshot.instances.map((one) => [placeText(one), one]))
  for (const { service } of state.services.all()) {
    const { key, serial } = service
    for (const { record } of state.instances(key)) {
      const { address, serial: own } = record
      const about = { serviceKey: key, address, serial: own }
      if (!instances.has(placeText({ serviceKey: key, record })))
        yield { kind: 'instance-removed', ...about, reason: 'deregistered', stamp }
    }
    if (!services.has(serviceKeyText(key))) yield { kind: 'service-deleted', key, serial }
  }
  for (const service of snapshot.services) yield { kind: 'service-saved', service, stamp }
  for (const { serviceKey, record, healthy } of snapshot.instances) {
    const known = state.instance(serviceKey, record.address)
    // What this server knew counts as heard only if it was: another server may have removed and found it again.
    const beat = known === undefined
    yield { kind: 'instance-saved', serviceKey, serviceSerial: 0, record, healthy, beat, stamp }
  }
}

function placeText({ serviceKey, record }: Pick<StoredInstance, 'serviceKey' | 'record'>): string {
  return `${serviceKeyText(serviceKey)}\u0002${addressText(record.address)}`
}
