import { isIPv4 } from 'node:net'

const GROUPS = 8

/**
 * The eight 16-bit groups of an IPv6 address in any spelling (`::`, a dotted tail, a zone after `%`). The argument must
 * be valid for `net.isIPv6`.
 */
export function groupsOfIPv6(address: string): number[] {
  const [head = '', tail] = withoutZone(address).split('::')
  const left = groupsOf(head)
  if (tail === undefined) return left
  const right = groupsOf(tail)
  return [...left, ...Array<number>(GROUPS - left.length - right.length).fill(0), ...right]
}

/** The address without its zone: `fe80::1%eth0` is `fe80::1`. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? ''
}

function groupsOf(part: string): number[] {
  if (part === '') return []
  return part
    .split(':')
    .flatMap((group) => (isIPv4(group) ? groupsOfIPv4(group) : [Number.parseInt(group, 16)]))
}

function groupsOfIPv4(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/**
 * The IPv4 addresses embedded in an IPv6 address: mapped (`::ffff:1.2.3.4`), translated, compatible, NAT64, 6to4 and
 * Teredo. A packet to such an address may arrive at the IPv4 address, so both must be allowed.
 */
export function embeddedIPv4(address: string): string[] {
  const groups = groupsOfIPv6(address)
  return EMBEDDINGS.filter(({ prefix }) =>
    prefix.every((group, i) => group === undefined || groups[i] === group),
  ).map(({ at, inverted }) => ipv4At(groups, at, inverted ? 0xffff : 0))
}

/** The IPv4 address of `::ffff:1.2.3.4`, which connects over IPv4; undefined for any other address. */
export function mappedIPv4(address: string): string | undefined {
  if (isIPv4(address)) return undefined
  const groups = groupsOfIPv6(address)
  const isMapped = groups.slice(0, 6).every((group, i) => group === (i === 5 ? 0xffff : 0))
  return isMapped ? ipv4At(groups, 6, 0) : undefined
}

function ipv4At(groups: readonly number[], at: number, mask: number): string {
  const [high, low] = [(groups[at] ?? 0) ^ mask, (groups[at + 1] ?? 0) ^ mask]
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
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
