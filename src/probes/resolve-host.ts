import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
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

// One query per name at a time, so that a slow name server does not get one for each probe of each instance.
const underWay = new Map<string, Promise<readonly AllowedAddress[]>>()

function lookupOnce(host: string): Promise<readonly AllowedAddress[]> {
  const running = underWay.get(host)
  if (running !== undefined) return running
  const asked = lookup(host, { all: true }).finally(() => underWay.delete(host))
  underWay.set(host, asked)
  return asked
}

/**
 * Resolves the address of an instance and checks every result with the guard, and with the networks that may be probed
 * (undefined: all). One forbidden address refuses the whole host. Connect only to the returned addresses, because
 * resolving again may give others.
 */
export async function resolveHost(
  host: string,
  ask: Lookup = lookupOnce,
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
