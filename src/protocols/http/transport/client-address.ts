import { BlockList, isIP } from 'node:net'
import { plainAddress } from '../../sockets/plain-address.ts'

/**
 * Builds the set of proxies whose X-Forwarded-For is believed, from IPs and CIDR ranges. Throws an Error that
 * names an entry which is neither.
 */
export function parseTrustedProxies(entries: readonly string[]): BlockList {
  const trusted = new BlockList()
  for (const entry of entries) addEntry(trusted, entry)
  return trusted
}

function addEntry(trusted: BlockList, entry: string): void {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = familyOf(address)
  if (family === undefined || rest.length > 0) throw wrongEntry(entry)
  if (prefix === undefined) return trusted.addAddress(address, family)
  const most = family === 'ipv4' ? 32 : 128
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > most) throw wrongEntry(entry)
  trusted.addSubnet(address, Number(prefix), family)
}

function wrongEntry(entry: string): Error {
  return new Error(`"${entry}" is not an IP address or a range such as 10.0.0.0/8.`)
}

/**
 * The sender of a request: the socket's address, or behind a trusted proxy the last hop of X-Forwarded-For
 * that is no such proxy. Hops before an unreadable one are ignored.
 */
export function callerAddress(
  socketIp: string,
  forwardedFor: string | string[] | undefined,
  trusted: BlockList,
): string {
  if (forwardedFor === undefined || forwardedFor.length === 0 || !isTrusted(socketIp, trusted))
    return socketIp
  let caller = socketIp
  for (const hop of String(forwardedFor).split(',').toReversed()) {
    const address = hopAddress(hop)
    if (address === undefined) return caller
    caller = address
    if (!isTrusted(address, trusted)) return caller
  }
  return caller
}

/** Whether a request came by TLS: to this server, or to a trusted proxy, as its header X-Forwarded-Proto says. */
export function cameByTls(
  socket: { readonly encrypted?: boolean; readonly remoteAddress?: string | undefined },
  forwardedProto: string | string[] | undefined,
  trusted: BlockList,
): boolean {
  if (socket.encrypted === true) return true
  if (forwardedProto === undefined || !isTrusted(plainAddress(socket.remoteAddress), trusted)) return false
  const [first = ''] = String(forwardedProto).split(',')
  return first.trim().toLowerCase() === 'https'
}

/** Whether this is the address of a trusted proxy. */
export function isTrusted(address: string, trusted: BlockList): boolean {
  const family = familyOf(address)
  return family !== undefined && trusted.check(address, family)
}

/** The address in `1.2.3.4`, `1.2.3.4:80`, `::1`, `[::1]:80`. */
function hopAddress(hop: string): string | undefined {
  const text = hop.trim()
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1]
  const withPort = /^([\d.]+):\d+$/.exec(text)?.[1]
  const address = plainAddress(bracketed ?? withPort ?? text)
  return isIP(address) === 0 ? undefined : address
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}
