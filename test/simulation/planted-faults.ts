import { type Change, savedValue } from '../../src/core/decisions/changes.ts'
import { isPublishedBy, withClaims } from '../../src/core/naming/state/claims.ts'
import {
  addressText,
  type Claim,
  type InstanceRecord,
  type Publisher,
} from '../../src/core/naming/state/instance.ts'
import { REMEMBERED_METADATA } from '../../src/core/naming/state/remembered-metadata.ts'
import { MEMBER } from '../../src/core/cluster/members/member-records.ts'
import type { ModelAccess } from '../../src/core/engine/model-access.test-support.ts'
import type {
  SharedCommit,
  SharedStore,
  StoreFollower,
  Unit,
  UnitResult,
} from '../../src/core/engine/ports.ts'

/** The faults that a test plants in every server and in the store, to see that the simulation finds them. */
export interface Planted {
  /** Whether the store compares what was read. */
  readonly compares: boolean
  /** Whether a server asks the others before it judges. */
  readonly asks: boolean
  /** Whether a server judges only while its lease is certain. */
  readonly heedsLease: boolean
  /** Whether instances of connections are kept for a while when their server is gone. */
  readonly keepsOrphans: boolean
  /** Whether a server looks after what its connections have lost, or could not remove. */
  readonly restores: boolean
  /** The follower that the feed of the store goes to. */
  readonly feed: (follower: StoreFollower, access: ModelAccess) => StoreFollower
  /** The store that the engine commits to. */
  readonly store: (access: ModelAccess) => Pick<SharedStore, 'commit' | 'mostChanges'>
}

/** Nothing is planted. */
export const NOTHING: Planted = {
  compares: true,
  asks: true,
  heedsLease: true,
  keepsOrphans: true,
  restores: true,
  feed: (follower) => follower,
  store: (access) => access,
}

/** The faults that simulations must find, by name. */
export const FAULTS: Readonly<Record<string, Planted>> = {
  'a store that writes without comparing': { ...NOTHING, compares: false },
  'negative answers from memory': {
    ...NOTHING,
    store: (access) => ({
      mostChanges: access.mostChanges,
      commit: (units, decidedAt) => commitChanges(access, units, decidedAt),
    }),
  },
  'a feed that swaps two revisions': { ...NOTHING, feed: (follower) => swapping(follower) },
  'a feed that forgets a revision now and then': { ...NOTHING, feed: (follower) => forgetting(follower) },
  'own changes that are applied before those of others': {
    ...NOTHING,
    feed: (follower, access) => new OwnFirst(follower, access),
  },
}

/** The faults that simulations of silence must find, by name. */
export const FAULTS_OF_JUDGES: Readonly<Record<string, Planted>> = {
  'a judge that asks nobody': { ...NOTHING, asks: false },
  'a judge that acts after its lease': {
    ...NOTHING,
    heedsLease: false,
    store: (access) => ({
      mostChanges: access.mostChanges,
      commit: (units, decidedAt) => access.commit(units.map(withoutMembers), decidedAt),
    }),
  },
  'a judge that forgets what silence has removed': {
    ...NOTHING,
    store: (access) => ({
      mostChanges: access.mostChanges,
      commit: (units, decidedAt) => access.commit(units.map(withoutMemory), decidedAt),
    }),
  },
}

/** The faults that simulations of connections must find, by name. */
export const FAULTS_OF_CONNECTIONS: Readonly<Record<string, Planted>> = {
  'a judge that removes what a dead server leaves at once': { ...NOTHING, keepsOrphans: false },
  'a server that does not look after its connections': { ...NOTHING, restores: false },
  'a claim of a connection that is lost': losing('connection'),
  'a claim of HTTP that is lost': losing('beats'),
  'an address that goes to a connection that left': returning('connection'),
  'an address that goes to a client of HTTP that left': returning('beats'),
}

/** The claims of these publishers are lost. */
function losing(lost: Publisher['kind']): Planted {
  const store = (access: ModelAccess) =>
    storing(access, (record) => withClaims(record, (record.claims ?? []).filter(isNotOf(lost))))
  return { ...NOTHING, store }
}

/** The claims of these publishers stay when they have left. */
function returning(left: Publisher['kind']): Planted {
  const store = (access: ModelAccess) => {
    const before = new Map<string, InstanceRecord>()
    return storing(access, (record) => {
      const place = addressText(record.address)
      const stays = before
        .get(place)
        ?.claims?.filter(({ publisher }) => publisher.kind === left && !isPublishedBy(record, publisher))
      const kept = { ...record, claims: [...(stays ?? []), ...(record.claims ?? [])] }
      before.set(place, kept)
      return kept
    })
  }
  return { ...NOTHING, store }
}

function isNotOf(kind: Publisher['kind']): (claim: Claim) => boolean {
  return ({ publisher }) => publisher.kind !== kind
}

function withoutMemory(unit: Unit): Unit {
  const isMemory = (change: Change): boolean => savedValue(REMEMBERED_METADATA, change) !== undefined
  return { ...unit, changes: unit.changes.filter((change) => !isMemory(change)) }
}

/** A store that writes other records of instances. */
function storing(access: ModelAccess, recordOf: (record: InstanceRecord) => InstanceRecord) {
  const other = (change: Change): Change =>
    change.kind === 'instance-saved' ? { ...change, record: recordOf(change.record) } : change
  return {
    mostChanges: access.mostChanges,
    commit: (units: readonly Unit[], decidedAt: number) =>
      access.commit(
        units.map((unit) => ({ ...unit, changes: unit.changes.map(other) })),
        decidedAt,
      ),
  }
}

/** The store is not told that the decision rests on who the members were. */
function withoutMembers(unit: Unit): Unit {
  const reads = unit.reads.filter((read) => !('recordKind' in read) || read.recordKind !== MEMBER.name)
  return { ...unit, reads }
}

/** Only units with changes go to the store. */
async function commitChanges(
  access: ModelAccess,
  units: readonly Unit[],
  decidedAt: number,
): Promise<readonly UnitResult[]> {
  const writing = units.filter(({ changes }) => changes.length > 0)
  const results = writing.length === 0 ? [] : [...(await access.commit(writing, decidedAt))]
  return units.map(({ changes }) => (changes.length === 0 ? { kind: 'held' } : results.shift()!))
}

/** Every third revision comes after the next one. The numbers stay in their order, so that the follower does not notice. */
function swapping(follower: StoreFollower): StoreFollower {
  let kept: SharedCommit | undefined
  return {
    applied: (commit) => {
      if (kept === undefined && commit.revision % 3 === 0) {
        kept = commit
        return
      }
      if (kept === undefined) return follower.applied(commit)
      follower.applied({ ...commit, revision: kept.revision })
      follower.applied({ ...kept, revision: commit.revision })
      kept = undefined
    },
    reloaded: (snapshot) => {
      kept = undefined
      follower.reloaded(snapshot)
    },
  }
}

/** Every seventh revision does not come. */
function forgetting(follower: StoreFollower): StoreFollower {
  return {
    applied: ({ revision, changes }) =>
      follower.applied({ revision, changes: revision % 7 === 0 ? [] : changes }),
    reloaded: (snapshot) => follower.reloaded(snapshot),
  }
}

/**
 * What the server itself has written is applied when the store has accepted it, and not again when its turn comes. The
 * follower takes fractions of revisions for what comes late.
 */
class OwnFirst implements StoreFollower {
  readonly #follower: StoreFollower
  readonly #own = new Set<number>()
  #revision: number

  constructor(follower: StoreFollower, access: ModelAccess) {
    this.#follower = follower
    this.#revision = access.revision
    access.onWritten = (commit) => {
      if (commit.revision <= this.#revision) return
      this.#own.add(commit.revision)
      this.#apply(commit)
    }
  }

  applied(commit: SharedCommit): void {
    if (!this.#own.delete(commit.revision)) this.#apply(commit)
  }

  reloaded(snapshot: Parameters<StoreFollower['reloaded']>[0]): void {
    this.#own.clear()
    this.#revision = snapshot.revision
    this.#follower.reloaded(snapshot)
  }

  #apply({ revision, changes }: SharedCommit): void {
    this.#revision = Math.max(revision, this.#revision + 0.001)
    this.#follower.applied({ revision: this.#revision, changes })
  }
}
