import {
  type Command,
  commandOn,
  type Decision,
  type Durability,
  unchanged,
} from '../../decisions/decision.ts'
import { Draft } from '../../decisions/draft.ts'
import type { Now } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import { ownText } from '../../text/own-text.ts'
import { departure } from '../liveness/departures.ts'
import { isPublishedBy, withLastClaim } from '../state/claims.ts'
import { addressText, type InstanceAddress, isSamePublisher, type Publisher } from '../state/instance.ts'
import { type RegisterInstance, registerInstance } from './register-instance.ts'
import { saveInFull, serviceSubject } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

/** An instance of a connection. It is ephemeral. */
export type PublishedInstance = Omit<RegisterInstance, 'serviceKey' | 'publisher' | 'ephemeral' | 'isGone'>

/** The new instances of a connection in a service, and the addresses where old ones must go. */
export interface InstanceReplacement {
  readonly serviceKey: ServiceKey
  readonly publisher: Publisher
  readonly instances: readonly PublishedInstance[]
  /** Instances at these addresses are removed, if they are of this publisher. */
  readonly leaving: readonly InstanceAddress[]
  /** Whether an address of another publisher is taken over. Otherwise this publisher waits for it, behind all others. */
  readonly takesOver: boolean
  /** Whether another publisher of such an address is known to have left. */
  readonly isGone?: (publisher: Publisher) => boolean
  /** Whether the client itself asks for a removal: it must be on disk before it is acknowledged. */
  readonly isGoodbye: boolean
}

/** How many instances were registered or changed, were there just like this, and were removed. */
export interface Replacement {
  readonly registered: number
  readonly known: number
  readonly removed: number
}

/**
 * Replaces instances of a connection in a service, in one decision. If one instance is refused, nothing changes. It reads
 * nothing but the instances that it names: of several servers, each can publish in the same service at the same time.
 */
export function replaceInstances(replacement: InstanceReplacement): Command<Replacement> {
  const { serviceKey, publisher, instances, leaving, takesOver, isGone } = replacement
  const named = new Set(instances.map(({ address }) => addressText(address)))
  const remove = leaving
    .filter((address) => !named.has(addressText(address)))
    .map((address) => removeOwn(replacement, address))
  const register = instances.map((instance) => {
    const request = { serviceKey, publisher, isGone, ephemeral: true, ...instance }
    return takesOver ? registerInstance(request) : registerOrWait(request)
  })
  return commandOn(serviceSubject(serviceKey), (view, now) => {
    // Removals go first: they make room where the number of instances is limited.
    const decisions = decideInTurn(view, [...remove, ...register], now)
    const count = (outcome: unknown): number =>
      decisions.filter((decision) => decision.outcome === outcome).length
    return {
      changes: decisions.flatMap(({ changes }) => changes),
      durability: strictest(decisions),
      outcome: { registered: count('registered'), known: count('known'), removed: count('removed') },
    }
  })
}

function removeOwn(
  { serviceKey, publisher, isGoodbye }: InstanceReplacement,
  address: InstanceAddress,
): Command<'removed' | 'not there'> {
  return commandOn(serviceSubject(serviceKey), (view, { stamp }) => {
    const known = view.instance(serviceKey, address)
    if (known === undefined) return unchanged('not there')
    const { record } = known
    const leaves = (one: Publisher): boolean => isSamePublisher(one, publisher)
    const changes = departure(view, { serviceKey, record, leaves, reason: 'deregistered', isGoodbye, stamp })
    if (changes.length === 0) return unchanged('not there')
    const ifEphemeral = isGoodbye ? 'synced if stored' : 'behind'
    return { changes, durability: record.ephemeral ? ifEphemeral : 'synced', outcome: 'removed' }
  })
}

function strictest(decisions: readonly Decision<unknown>[]): Durability {
  const needs = (one: Durability): boolean => decisions.some(({ durability }) => durability === one)
  if (needs('synced')) return 'synced'
  return needs('synced if stored') ? 'synced if stored' : 'behind'
}

/** Registers an instance where nobody has the address. Otherwise it becomes the last of the claims, if there is room. */
function registerOrWait(request: RegisterInstance & { readonly publisher: Publisher }): Command<unknown> {
  const register = registerInstance(request)
  const { serviceKey, publisher, weight, enabled, metadata: registered, app, healthy = true } = request
  return commandOn(register.subject, (view, now) => {
    const known = view.instance(serviceKey, request.address)
    if (known === undefined) return register.decide(view, now)
    if (isPublishedBy(known.record, publisher)) return unchanged('there')
    const claim = { publisher, weight, enabled, registered, app: ownText(app), healthy }
    const record = withLastClaim(known.record, claim)
    if (record === undefined) return unchanged('taken')
    const changes = [saveInFull(view, serviceKey, { record, healthy: undefined, stamp: now.stamp })]
    return { changes, durability: 'behind', outcome: 'waits' }
  })
}

/** Decides commands one after the other; each sees the changes of the earlier ones. */
function decideInTurn(view: View, commands: readonly Command<unknown>[], now: Now): Decision<unknown>[] {
  const draft = new Draft(view)
  return commands.map((command) => {
    const decision = command.decide(draft, now)
    for (const change of decision.changes) draft.add(change)
    return decision
  })
}
