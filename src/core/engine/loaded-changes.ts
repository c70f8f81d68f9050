import type { Change } from '../decisions/changes.ts'
import { serviceKeyText } from '../naming/state/service.ts'
import type { Snapshot } from './ports.ts'

/**
 * Everything that a store holds, as changes. `stamp` is used for all changes without one of their own. Every ephemeral
 * instance gets a full timeout again, so that a restart of the server empties no list. An instance that is not there,
 * but has remembered metadata, counts as having just left.
 */
export function* changesOf(snapshot: Snapshot, stamp: number): Generator<Change> {
  for (const item of snapshot.configs) {
    const { createIp: ip, createUser: user } = item.origin
    yield { kind: 'config-published', op: 'I', item, previous: undefined, operator: { ip, user } }
  }
  for (const service of snapshot.services) yield { kind: 'service-saved', service, stamp }
  for (const record of snapshot.records) yield { kind: 'record-saved', ...record, stamp }
  yield* instancesOf(snapshot, stamp)
}

function* instancesOf({ services, instances }: Snapshot, stamp: number): Generator<Change> {
  const serials = new Map(services.map(({ key, serial }) => [serviceKeyText(key), serial]))
  for (const { serviceKey, record, healthy } of instances) {
    const serviceSerial = serials.get(serviceKeyText(serviceKey)) ?? 0
    yield { kind: 'instance-saved', serviceKey, serviceSerial, record, healthy, beat: true, stamp }
  }
}
