import type { Now, Snapshot } from './ports.ts'
import type { NamingLimits } from './naming/naming-sizes.ts'
import { serviceKeyText } from './naming/service.ts'
import { State } from './state.ts'

/**
 * The state of a server that starts: everything that the store knows. Every ephemeral instance gets a fresh
 * full timeout, so that a restart of the server empties no list; an instance that was remembered but is not
 * there counts as having just left.
 */
export function loadState(snapshot: Snapshot, now: Now, limits?: NamingLimits): State {
  const startMs = Math.max(now.wallMs, snapshot.clockHighMs + 1)
  const state = new State(startMs, limits)
  // Searches answer in the order of birth, after a restart as before it.
  for (const item of snapshot.configs.toSorted((a, b) => a.origin.id - b.origin.id)) state.configs.set(item)
  for (const namespace of snapshot.namespaces) state.namespaces.set(namespace.id, namespace)
  state.apply({ kind: 'switches-set', patch: snapshot.switches, localOnly: false }, now)
  loadNaming(state, snapshot, { ...now, wallMs: startMs })
  return state
}

function loadNaming(state: State, snapshot: Snapshot, now: Now): void {
  const atMs = now.wallMs
  const serials = new Map<string, number>()
  for (const service of snapshot.services) {
    state.reserveSerial(service.serial)
    serials.set(serviceKeyText(service.key), service.serial)
    state.apply({ kind: 'service-saved', service, atMs }, now)
  }
  for (const remembered of snapshot.remembered) {
    state.apply({ kind: 'metadata-remembered', ...remembered, atMs }, now)
  }
  for (const { serviceKey, record, healthy } of snapshot.instances) {
    state.reserveSerial(record.serial)
    const serviceSerial = serials.get(serviceKeyText(serviceKey)) ?? 0
    state.apply({ kind: 'instance-saved', serviceKey, serviceSerial, record, healthy, beat: true, atMs }, now)
  }
}
