import { Cancellation } from '@waypost/etcd-client/cancellation'
import type { MemberFacts } from '../../../core/cluster/members/member-records.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { Lease } from '@waypost/etcd-client/lease'
import type { Keys } from '../keys/keys.ts'
import { UnknownLayout } from '../format/layout.ts'
import { StoreEmpty } from '../format/store-empty.ts'
import type { StoreInUse } from '../format/store-in-use.ts'
import { AuthDiffers, MemberPlace, VersionsDiffer } from './member-place.ts'
import { PlaceTaken } from '../failures/place-taken.ts'
import { refusalOf } from '../failures/refusals.ts'

/** The dependencies of `EtcdMembership`. */
export interface EtcdMembershipParts {
  readonly client: Pick<EtcdClient, 'lease' | 'txn'>
  readonly keys: Keys
  readonly inUse: Pick<StoreInUse, 'saw' | 'refuse'>
  readonly clock: Clock
  /** Called with the reason to stop this server: {@link PlaceTaken}, or servers that it does not fit to. */
  readonly failed: (error: unknown) => void
}

/** The others take this server for lost if it does not renew its lease for this long. */
const LEASE_SECONDS = 10
/** How often the lease is renewed and the election looked at. */
const TURN_MS = 1_000
/** How many servers may join at the same moment. */
const MOST_TRIES = 20

/**
 * Makes this server a member of the cluster for as long as it runs. It keeps its lease alive, is a candidate for
 * election, and joins again if its lease has ended. The list of members comes by the feed of the store, as records.
 */
export class EtcdMembership {
  readonly #parts: EtcdMembershipParts
  readonly #left = new Cancellation()
  #lease: Lease | undefined
  #keeping: Promise<void> | undefined

  constructor(parts: EtcdMembershipParts) {
    this.#parts = parts
  }

  /**
   * Becomes a member, and takes the place from an earlier process at once. Call it after the store was loaded. Rejects with
   * {@link PlaceTaken}, and with an Error if other members have another `auth` or other versions, or if it does not know the
   * layout. After Refusal `store-unavailable` it may be called again.
   */
  async join(facts: MemberFacts): Promise<void> {
    if (this.#keeping !== undefined) throw new Error('This server has joined already.')
    const place = new MemberPlace(this.#parts.client, this.#parts.keys, facts)
    try {
      await this.#enter(place, { first: true })
    } catch (error) {
      throw refusalOf(error)
    }
    this.#keeping = this.#keep(place)
  }

  /** Until when the others certainly count this server as a member, by the clock; 0: they need not. */
  leaseUntilMs(): number {
    return this.#lease?.certainUntilMs() ?? 0
  }

  /** Stops being a member. The others know at once, or when the lease ends if etcd cannot be reached. */
  async leave(): Promise<void> {
    this.#left.cancel()
    await this.#keeping
    const lease = this.#lease
    this.#lease = undefined
    await lease?.revoke().catch(ignore)
  }

  async #keep(place: MemberPlace): Promise<void> {
    const { clock, failed } = this.#parts
    for (;;) {
      await clock.sleep(TURN_MS, this.#left)
      if (this.#left.isCancelled) return
      try {
        await this.#turn(place)
      } catch (error) {
        // Nobody is a member without the data: nothing expires, and nothing is cleaned.
        if (error instanceof StoreEmpty) this.#lease = undefined
        if (!isFinal(error)) continue
        this.#lease = undefined
        return failed(error)
      }
    }
  }

  async #turn(place: MemberPlace): Promise<void> {
    const { inUse } = this.#parts
    inUse.refuse()
    const lease = this.#lease
    if (lease === undefined) return this.#enter(place, { first: false })
    // At the same time: when etcd is slow, a look must not delay the next renewal.
    const [isRenewed, seen] = await Promise.all([renewed(lease), place.read()])
    inUse.saw(seen.store)
    place.refuseTaken(seen)
    if (!isRenewed) return this.#enter(place, { first: false })
    place.refuseReplaced(seen)
    if (place.isTaken(seen, lease.id)) return place.stand(lease.id, seen)
    // Somebody has deleted the key, or etcd was restored: the others do not count this server as a member any more.
    return this.#enter(place, { first: false })
  }

  /** Takes the place with a new lease. */
  async #enter(place: MemberPlace, { first }: { first: boolean }): Promise<void> {
    this.#lease = undefined
    const lease = await this.#parts.client.lease(LEASE_SECONDS)
    try {
      await this.#take(place, lease, first)
    } catch (error) {
      // A key that was perhaps written ends with its lease.
      void lease.revoke().catch(ignore)
      throw error
    }
    this.#lease = lease
    // This server is a member now. If it cannot stand for election, the next turn tries again.
    await place
      .read()
      .then((seen) => place.stand(lease.id, seen))
      .catch(ignore)
  }

  async #take(place: MemberPlace, lease: Lease, first: boolean): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const seen = await place.read()
      this.#parts.inUse.saw(seen.store)
      place.refuseTaken(seen)
      if (!first) place.refuseReplaced(seen)
      place.refuseOtherAuth(seen)
      place.refuseOtherVersions(seen)
      if (await place.take(lease.id, seen)) return
    }
    throw new EtcdError('unavailable', 'Too many servers join at once.')
  }
}

/** False: the lease has ended. */
async function renewed(lease: Lease): Promise<boolean> {
  try {
    await lease.renew()
    return true
  } catch (error) {
    if (error instanceof EtcdError && error.kind === 'no-lease') return false
    throw error
  }
}

/** Errors that do not pass. After other errors it tries again. */
const FINAL = [PlaceTaken, AuthDiffers, VersionsDiffer, UnknownLayout]

function isFinal(error: unknown): boolean {
  return FINAL.some((kind) => error instanceof kind)
}

function ignore(): void {}
