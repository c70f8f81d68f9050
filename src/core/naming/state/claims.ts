import { isMoved } from './connection-publisher.ts'
import type { Said } from './remembered-metadata.ts'
import { type Claim, type InstanceRecord, isSamePublisher, type Publisher } from './instance.ts'

/** The most claims that wait for an address. */
const MOST_CLAIMS = 4
/** The most texts of all of its claims, in characters of their metadata as JSON. */
const MOST_CLAIM_TEXT = 16 * 1024

/** The parts of an instance that become a claim. */
interface Displaced {
  readonly record: InstanceRecord
  readonly healthy: boolean
}

/** A publisher that registers an address. `isGone`: whether another one is known to have left already. */
export interface Claimant {
  readonly publisher: Publisher
  /** The weight and enabled of the displaced one as its application says, if an operator has set others. */
  readonly said?: Said | undefined
  readonly isGone?: ((publisher: Publisher) => boolean) | undefined
}

/**
 * The claims of an address once somebody has registered it: the displaced instance is the first. Requests of HTTP name no
 * publisher, so all these are one. An imported instance stands for a client that comes, and claims nothing.
 */
export function claimsAfter(
  { record, healthy }: Displaced,
  { publisher, said, isGone }: Claimant,
): readonly Claim[] | undefined {
  const { publisher: owner, claims } = record
  const isDisplaced = !isSameClaimant(owner, publisher) && !isMoved(owner) && isGone?.(owner) !== true
  if (!isDisplaced && claims === undefined) return undefined
  const others = claims?.filter((claim) => !isSameClaimant(claim.publisher, publisher)) ?? []
  if (!isDisplaced && others.length === claims?.length) return claims
  return bounded(isDisplaced ? [claimOf({ ...record, ...said }, healthy), ...others] : others)
}

/** The record with one more claim, behind all others; undefined: there is no room. */
export function withLastClaim(record: InstanceRecord, claim: Claim): InstanceRecord | undefined {
  const claims = [...(record.claims ?? []), claim]
  return bounded(claims)?.length === claims.length ? { ...record, claims } : undefined
}

/** Whether one more claim may find room at an address. */
export function hasRoom({ claims = [] }: InstanceRecord): boolean {
  return claims.length < MOST_CLAIMS && textOf(claims) < MOST_CLAIM_TEXT
}

/** The record with these claims. */
export function withClaims(
  { claims: _before, ...record }: InstanceRecord,
  claims: readonly Claim[],
): InstanceRecord {
  return claims.length === 0 ? record : { ...record, claims }
}

/** Whether a publisher has the address, or a claim to it. */
export function isPublishedBy({ publisher: owner, claims }: InstanceRecord, publisher: Publisher): boolean {
  if (isSamePublisher(owner, publisher)) return true
  return claims?.some((claim) => isSamePublisher(claim.publisher, publisher)) === true
}

/** All who publish an address: its owner, then those who wait for it. */
export function publishersOf({ publisher, claims }: InstanceRecord): readonly Publisher[] {
  return claims === undefined ? [publisher] : [publisher, ...claims.map((claim) => claim.publisher)]
}

/** The claim whose publisher sends beats, while another publisher has the address. An address has at most one. */
export function beatingClaim({ publisher, claims }: InstanceRecord): Claim | undefined {
  if (claims === undefined || publisher.kind === 'beats') return undefined
  return claims.find((claim) => claim.publisher.kind === 'beats')
}

/** The registration whose publisher sends beats: the instance itself, or a claim that waits for the address. */
export function beatingRegistration(record: InstanceRecord): InstanceRecord | Claim | undefined {
  return record.publisher.kind === 'beats' ? record : beatingClaim(record)
}

function isSameClaimant(a: Publisher, b: Publisher): boolean {
  if (a.kind !== 'connection' && b.kind !== 'connection') return true
  return isSamePublisher(a, b)
}

function claimOf({ publisher, weight, enabled, registered, app }: InstanceRecord, healthy: boolean): Claim {
  return { publisher, weight, enabled, registered, app, healthy }
}

/** The first ones, as far as there is room. A connection without a claim looks at the address again; HTTP would be forgotten. */
function bounded(claims: readonly Claim[]): readonly Claim[] | undefined {
  const kept = [...claims]
  while (kept.length > MOST_CLAIMS || textOf(kept) > MOST_CLAIM_TEXT) {
    // The last one, where none is of a connection.
    const last = kept.findLastIndex(({ publisher }) => publisher.kind === 'connection')
    kept.splice(last, 1)
  }
  return kept.length === 0 ? undefined : kept
}

function textOf(claims: readonly Claim[]): number {
  return claims.reduce((sum, { registered }) => sum + JSON.stringify(registered).length, 0)
}
