import type { Command, Decision } from '../decision.ts'
import { Draft } from '../draft.ts'
import type { Now } from '../ports.ts'
import type { View } from '../view.ts'
import { deregisterInstance } from './instance-commands.ts'
import { addressText, isSamePublisher, type InstanceAddress, type Publisher } from './instance.ts'
import { type RegisterInstance, registerInstance } from './register-instance.ts'
import { serviceSubject } from './service-commands.ts'
import type { ServiceKey } from './service.ts'

/** An instance of a publisher. Those of an operator are persistent, all others are ephemeral. */
export type PublishedInstance = Omit<RegisterInstance, 'serviceKey' | 'publisher' | 'ephemeral'>

/** How many instances were registered or changed, were there just like this, and were removed. */
export interface Replacement {
  readonly registered: number
  readonly known: number
  readonly removed: number
}

/**
 * Replaces all instances that a publisher has in a service, in one decision: registers new ones, changes those that
 * differ, removes those that are not named. An address of another publisher is taken over; the other instances of other
 * publishers stay. If one instance is refused, nothing changes. The decision looks at every instance of the service. An
 * instance that is there just like this has not beaten: for the publisher `beats` that is the caller's.
 */
export function replaceInstances(
  serviceKey: ServiceKey,
  publisher: Publisher,
  instances: readonly PublishedInstance[],
): Command<Replacement> {
  const ephemeral = publisher.kind !== 'operator'
  const register = instances.map((instance) =>
    registerInstance({ ...instance, serviceKey, publisher, ephemeral }),
  )
  const named = new Set(instances.map(({ address }) => addressText(address)))
  return {
    subject: serviceSubject(serviceKey),
    decide(view, now) {
      const leaving = addressesOf(view, serviceKey, publisher).filter(
        (address) => !named.has(addressText(address)),
      )
      const remove = leaving.map((address) =>
        deregisterInstance({ serviceKey, address, ephemeral: undefined }),
      )
      // Removals go first: they make room where the number of instances is limited.
      const decisions = decideInTurn(view, [...remove, ...register], now)
      const registered = decisions.filter(({ outcome }) => outcome === 'registered').length
      return {
        changes: decisions.flatMap(({ changes }) => changes),
        durability: decisions.some(({ durability }) => durability === 'synced') ? 'synced' : 'behind',
        outcome: { registered, known: instances.length - registered, removed: leaving.length },
      }
    },
  }
}

function addressesOf(view: View, serviceKey: ServiceKey, publisher: Publisher): InstanceAddress[] {
  const addresses: InstanceAddress[] = []
  for (const { record } of view.instances(serviceKey))
    if (isSamePublisher(record.publisher, publisher)) addresses.push(record.address)
  return addresses
}

/** Decides commands one after the other; each sees the changes of those before it. */
function decideInTurn(view: View, commands: readonly Command<unknown>[], now: Now): Decision<unknown>[] {
  const draft = new Draft(view)
  return commands.map((command) => {
    const decision = command.decide(draft, now)
    for (const change of decision.changes) draft.add(change)
    return decision
  })
}
