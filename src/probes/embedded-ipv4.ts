import { groupsOfIPv6, ipv4At } from '../core/text/ip-address.ts'

/**
 * The IPv4 addresses embedded in an IPv6 address: mapped (`::ffff:1.2.3.4`), translated, compatible, NAT64, 6to4 and
 * Teredo. A packet to such an address may arrive at the IPv4 address, so both must be allowed.
 */
export function embeddedIPv4(address: string): string[] {
  const groups = groupsOfIPv6(address) ?? []
  return EMBEDDINGS.filter(({ prefix }) =>
    prefix.every((group, i) => group === undefined || groups[i] === group),
  ).map(({ at, inverted }) => ipv4At(groups, at, inverted ? 0xffff : 0))
}

interface Embedding {
  /** Leading groups; undefined: any. */
  readonly prefix: readonly (number | undefined)[]
  /** The group where the IPv4 address begins. */
  readonly at: number
  readonly inverted?: boolean
}

const EMBEDDINGS: readonly Embedding[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 }, // mapped, RFC 4291 2.5.5.2
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 }, // translated, RFC 2765
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 }, // compatible, RFC 4291 2.5.5.1
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 }, // NAT64, RFC 6052
  { prefix: [0x64, 0xff9b, 1], at: 6 }, // local NAT64, RFC 8215
  { prefix: [0x2002], at: 1 }, // 6to4, RFC 3056
  { prefix: [0x2001, 0], at: 6, inverted: true }, // Teredo, RFC 4380
]
