import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { identityOf, mappedIPv4, withoutZone } from '../core/text/ip-address.ts'
import { embeddedIPv4 } from './embedded-ipv4.ts'

// A client that registers an instance chooses the address that the server connects to. At link-local addresses and the
// few others below, clouds serve credentials to the machine itself. No discovered service is there.
const FORBIDDEN: readonly (readonly [network: string, bits: number, what: string])[] = [
  ['0.0.0.0', 8, 'unspecified'],
  ['169.254.0.0', 16, 'link-local'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved or broadcast'],
  ['100.100.100.200', 32, 'a cloud metadata address'],
  ['168.63.129.16', 32, 'a cloud metadata address'],
  ['192.0.0.192', 32, 'a cloud metadata address'],
  ['::', 128, 'unspecified'],
  ['fe80::', 10, 'link-local'],
  ['ff00::', 8, 'multicast'],
  ['fd00:ec2::254', 128, 'a cloud metadata address'],
  ['fd20:ce::254', 128, 'a cloud metadata address'],
]

const blocks = FORBIDDEN.map(([network, bits, what]) => {
  const list = new BlockList()
  list.addSubnet(network, bits, familyOf(network))
  return { family: familyOf(network), list, what }
})

/**
 * Why an IP address must not be probed (`link-local`, …), or undefined if it may be. Loopback and private networks are
 * allowed, because services run there. An IPv6 address with an embedded IPv4 address is checked as both. Text that is
 * not an IP address is refused: resolve a name first, then check each of its addresses.
 */
export function refusalOfAddress(address: string): string | undefined {
  if (isIPv4(address)) return blockOf(address)
  if (!isIPv6(address)) return 'not an IP address'
  const plain = withoutZone(address)
  if (identityOf(plain) === '::1') return undefined
  return [plain, ...embeddedIPv4(plain)].map(blockOf).find((what) => what !== undefined)
}

const BITS = { ipv4: 32, ipv6: 128 }
/** The bits before an IPv4 address that IPv6 wraps. */
const MAPPED_BITS = 96

/** Whether an IP address is in one of the networks that may be probed. */
export type ProbedNetworks = (address: string) => boolean

/**
 * The networks of `probe-networks`: IP addresses and ranges such as `10.0.0.0/8`; undefined for an empty list, which is
 * no limit. An IPv4 address that IPv6 only wraps (`::ffff:10.0.0.1`) counts as IPv4.
 */
export function probedNetworks(entries: readonly string[]): ProbedNetworks | undefined {
  if (entries.length === 0) return undefined
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const entry of entries) {
    const { network, bits } = networkOf(entry)
    const family = familyOf(network)
    lists[family].addSubnet(network, bits, family)
  }
  return (address) => {
    const plain = mappedIPv4(address) ?? withoutZone(address)
    const family = familyOf(plain)
    return lists[family].check(plain, family)
  }
}

function networkOf(entry: string): { network: string; bits: number } {
  const [network = '', text] = entry.split('/')
  const bits = text === undefined ? BITS[familyOf(network)] : Number(text)
  const mapped = bits < MAPPED_BITS ? undefined : mappedIPv4(network)
  return mapped === undefined ? { network, bits } : { network: mapped, bits: bits - MAPPED_BITS }
}

function blockOf(address: string): string | undefined {
  const family = familyOf(address)
  return blocks.find((block) => block.family === family && block.list.check(address, family))?.what
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
