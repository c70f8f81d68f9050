import { auditedItem, namesOf, type SomeNames } from '../../core/audit/audited-item.ts'
import type { KnownInstance } from '../../core/decisions/view.ts'
import { hostPort, identityOf } from '../../core/text/ip-address.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { AuditedOutcome } from '../operation-audit.ts'
import { instanceText } from './instance-targets.ts'
import { serviceResource } from './services.ts'

/** An instance as a request or a record names it. */
type NamedInstance = Parameters<typeof instanceText>[0]

/** Instances of a service that a request names. */
interface NamedInstances {
  readonly serviceKey: ServiceKey
  readonly instances: readonly NamedInstance[]
}

/** How the audit names instances of a service; undefined: none is named. */
export function instanceNames({ serviceKey, instances }: NamedInstances): SomeNames | undefined {
  return instances.length === 0 ? undefined : namesIn(serviceKey, instances)
}

function namesIn(serviceKey: ServiceKey, instances: readonly NamedInstance[]): SomeNames {
  return namesOf(instances, (one) => auditedItem([serviceResource(serviceKey)], instanceText(one)))
}

/** The outcome of a change of several instances of a service; without any, the event names the service alone. */
export function auditedInstances(
  serviceKey: ServiceKey,
  changed: readonly NamedInstance[],
  left: readonly NamedInstance[],
): AuditedOutcome {
  if (changed.length + left.length === 0) return { result: 'done' }
  return { result: 'done', names: { changed: namesIn(serviceKey, changed), left: namesIn(serviceKey, left) } }
}

/** The outcome of a batch of metadata. `instances`: the ones that the batch names; without any it means all of a kind. */
export function auditedBatch(
  updated: readonly KnownInstance[],
  { serviceKey, instances }: NamedInstances,
): AuditedOutcome {
  const changed = updated.map(({ record }) => record.address)
  if (instances.length === 0) return auditedInstances(serviceKey, changed, [])
  const there = new Set(
    changed.map(inOneSpelling).flatMap((one) => [hostPort(one.ip, one.port), instanceText(one)]),
  )
  const left = instances.filter((named) => {
    const one = inOneSpelling(named)
    return !there.has(one.cluster === undefined ? hostPort(one.ip, one.port) : instanceText(one))
  })
  return auditedInstances(serviceKey, changed, left)
}

/** An IPv6 address has many spellings. */
function inOneSpelling(one: NamedInstance): NamedInstance {
  return { ...one, ip: identityOf(one.ip) }
}
