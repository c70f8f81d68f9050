import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { FairQueue } from '../core/work/fair-queue.ts'
import { type ProbedNetworks, refusalOfAddress } from './address-guard.ts'

/** An address that the guard allows. */
export interface AllowedAddress {
  readonly address: string
  readonly family: number
}

/** The result of resolving a host: addresses that may be probed, or why there is no address. */
export type ResolvedHost =
  | { readonly kind: 'allowed'; readonly addresses: readonly AllowedAddress[] }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unresolved'; readonly reason: string }

/** Resolves a name to all its addresses. It rejects with an error whose `code` names the failure. */
export type Lookup = (host: string) => Promise<readonly AllowedAddress[]>

/** How many names wait to be resolved: as many as probes run. */
const MOST_WAITING = 64

/** A query that takes longer is slow: as long as a probe may take. */
const SLOW_MS = 500

/** The slow names that are remembered, at most. */
const MOST_SLOW = 10_000

/**
 * Asks for names: once at a time for each. So a slow name server does not get a query for each probe of each instance.
 * Node asks for two names at a time, and a name server that does not answer holds one for seconds. So an owner has one at
 * a time, and the other place is for names of other owners, who take turns. Names that were slow last time have one place.
 */
export class NameQueries {
  readonly #lookup: Lookup
  readonly #underWay = new Map<string, Promise<readonly AllowedAddress[]>>()
  readonly #turns = new FairQueue({ atOnce: 1, firsts: 1, waiting: MOST_WAITING }, tooMany)
  readonly #slowTurns = new FairQueue({ atOnce: 1, waiting: MOST_WAITING }, tooMany)
  readonly #slowHosts = new Set<string>()
  readonly #nowMs: () => number

  constructor(lookupOf: Lookup = (host) => lookup(host, { all: true }), nowMs = () => performance.now()) {
    this.#lookup = lookupOf
    this.#nowMs = nowMs
  }

  /** The addresses of names of an owner. */
  of(owner: string): Lookup {
    return (host) => {
      const name = `${owner} ${host}`
      const running = this.#underWay.get(name)
      if (running !== undefined) return running
      const turns = this.#slowHosts.has(host) ? this.#slowTurns : this.#turns
      const asked = turns.run(owner, () => this.#ask(host)).finally(() => this.#underWay.delete(name))
      this.#underWay.set(name, asked)
      return asked
    }
  }

  async #ask(host: string): Promise<readonly AllowedAddress[]> {
    const beganMs = this.#nowMs()
    try {
      return await this.#lookup(host)
    } finally {
      if (this.#nowMs() - beganMs < SLOW_MS) this.#slowHosts.delete(host)
      else if (this.#slowHosts.size < MOST_SLOW) this.#slowHosts.add(host)
    }
  }
}

function tooMany(): Error {
  return new Error(`more than ${MOST_WAITING} names wait to be resolved`)
}

/** The queries of all probes. */
export const QUERIES = new NameQueries()

/**
 * Resolves the address of an instance and checks every result with the guard, and with the networks that may be probed
 * (undefined: all). One forbidden address refuses the whole host. Connect only to the returned addresses, because
 * resolving again may give others.
 */
export async function resolveHost(
  host: string,
  ask: Lookup = QUERIES.of(''),
  networks?: ProbedNetworks,
): Promise<ResolvedHost> {
  const family = isIP(host)
  if (family !== 0) return judge(host, [{ address: host, family }], networks)
  if (host === '') return { kind: 'unresolved', reason: 'no address is named' }
  try {
    return judge(host, await ask(host), networks)
  } catch (error) {
    return { kind: 'unresolved', reason: `cannot resolve ${host}: ${codeOf(error)}` }
  }
}

function judge(
  host: string,
  addresses: readonly AllowedAddress[],
  networks: ProbedNetworks | undefined,
): ResolvedHost {
  if (addresses.length === 0) return { kind: 'unresolved', reason: `cannot resolve ${host}: no address` }
  for (const { address } of addresses) {
    const what = refusalOfAddress(address)
    if (what !== undefined) return { kind: 'refused', reason: `${address} is never probed: ${what}` }
    if (networks?.(address) === false)
      return { kind: 'refused', reason: `${address} is not probed: it is outside of probe-networks` }
  }
  return { kind: 'allowed', addresses }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
