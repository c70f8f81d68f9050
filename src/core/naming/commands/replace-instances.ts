import type { Change } from '../../decisions/changes.ts'
import {
  type Command,
  commandOn,
  type Decision,
  type Durability,
  unchanged,
} from '../../decisions/decision.ts'
import { Draft } from '../../decisions/draft.ts'
import type { View } from '../../decisions/view.ts'
import { ownText } from '../../text/own-text.ts'
import { departure } from '../liveness/departures.ts'
import { isPublishedBy, withLastClaim } from '../state/claims.ts'
import { addressText, type InstanceAddress, isSamePublisher, type Publisher } from '../state/instance.ts'
import { decideRegistration, type RegisterInstance } from './register-instance.ts'
import { saveInFull, serviceSubject } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

/** An instance of a connection. It is ephemeral. */
export type PublishedInstance = Pick<
  RegisterInstance,
  'address' | 'weight' | 'enabled' | 'healthy' | 'metadata' | 'app'
>

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
  return commandOn(serviceSubject(replacement.serviceKey), (view, { stamp }) => {
    const deciding = new ReplacementDecision(view)
    // Removals go first: they make room where the number of instances is limited.
    for (const address of leavingOf(replacement))
      deciding.add(removeOwn(deciding.view, replacement, { address, stamp }))
    for (const instance of replacement.instances)
      deciding.add(registerOwn(deciding.view, replacement, { instance, stamp }))
    return deciding.decision()
  })
}

/** The addresses from which something must go, and where nothing new comes. */
function leavingOf({ instances, leaving }: InstanceReplacement): readonly InstanceAddress[] {
  if (leaving.length === 0) return leaving
  const named = new Set(instances.map(({ address }) => addressText(address)))
  return leaving.filter((address) => !named.has(addressText(address)))
}

type Outcome = 'registered' | 'known' | 'removed' | 'nothing'

/** The decisions for the instances of a replacement, one after the other: each sees the changes of the earlier ones. */
class ReplacementDecision {
  readonly view: Draft
  readonly #changes: Change[] = []
  readonly #counts: Record<Outcome, number> = { registered: 0, known: 0, removed: 0, nothing: 0 }
  #durability: Durability = 'behind'

  constructor(view: View) {
    this.view = new Draft(view)
  }

  add({ changes, durability, outcome }: Decision<Outcome>): void {
    for (const change of changes) {
      this.view.add(change)
      this.#changes.push(change)
    }
    this.#counts[outcome]++
    const isStricter =
      durability === 'synced' || (durability === 'synced if stored' && this.#durability === 'behind')
    if (isStricter) this.#durability = durability
  }

  decision(): Decision<Replacement> {
    const { registered, known, removed } = this.#counts
    return { changes: this.#changes, durability: this.#durability, outcome: { registered, known, removed } }
  }
}

function removeOwn(
  view: View,
  { serviceKey, publisher, isGoodbye }: InstanceReplacement,
  { address, stamp }: { readonly address: InstanceAddress; readonly stamp: number },
): Decision<Outcome> {
  const known = view.instance(serviceKey, address)
  if (known === undefined) return unchanged('nothing')
  const { record } = known
  const leaves = (one: Publisher): boolean => isSamePublisher(one, publisher)
  const changes = departure(view, { serviceKey, record, leaves, reason: 'deregistered', isGoodbye, stamp })
  if (changes.length === 0) return unchanged('nothing')
  const ifEphemeral = isGoodbye ? 'synced if stored' : 'behind'
  return { changes, durability: record.ephemeral ? ifEphemeral : 'synced', outcome: 'removed' }
}

/** Registers an instance. Where another publisher has the address and keeps it, it becomes the last of the claims, if there is room. */
function registerOwn(
  view: View,
  { serviceKey, publisher, takesOver, isGone }: InstanceReplacement,
  { instance, stamp }: { readonly instance: PublishedInstance; readonly stamp: number },
): Decision<Outcome> {
  const { address, weight, enabled, healthy, metadata, app } = instance
  const known = takesOver ? undefined : view.instance(serviceKey, address)
  // Field by field: V8 makes a new shape for each object that a spread begins.
  const asked = {
    serviceKey,
    publisher,
    isGone,
    ephemeral: true,
    address,
    weight,
    enabled,
    healthy,
    metadata,
    app,
  }
  if (known === undefined) return decideRegistration(view, asked, stamp)
  if (isPublishedBy(known.record, publisher)) return unchanged('nothing')
  const claim = {
    publisher,
    weight,
    enabled,
    registered: metadata,
    app: ownText(app),
    healthy: healthy ?? true,
  }
  const record = withLastClaim(known.record, claim)
  if (record === undefined) return unchanged('nothing')
  const changes = [saveInFull(view, serviceKey, { record, healthy: undefined, stamp })]
  return { changes, durability: 'behind', outcome: 'nothing' }
}
