const GROUPS = 8
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/
const ZONE = /^(%[\w.~-]+)?$/
const HOST_NAME = /^\w([\w-]*\w)?(\.\w([\w-]*\w)?)*$/
/** Many programs read a name that ends like this as an IPv4 address. */
const ENDS_WITH_NUMBER = /(^|\.)(\d+|0x[\da-f]*)$/i
/** Programs read such a number as octal or as decimal. */
const LEADING_ZERO = /(^|\.)0\d/

/** Whether a text is an IPv4 address. */
export function isIPv4(text: string): boolean {
  return IPV4.test(text)
}

/**
 * The eight 16-bit groups of an IPv6 address in any spelling (`::`, a dotted tail, a zone after `%`); undefined for any
 * other text. Brackets must be off.
 */
export function groupsOfIPv6(text: string): number[] | undefined {
  const address = withoutZone(text)
  const [head = '', tail, ...more] = address.split('::')
  if (more.length > 0 || !ZONE.test(text.slice(address.length))) return undefined
  const left = groupsOf(head, tail === undefined)
  const right = groupsOf(tail ?? '', true)
  if (left === undefined || right === undefined) return undefined
  if (tail === undefined) return left.length === GROUPS ? left : undefined
  const missing = GROUPS - left.length - right.length
  return missing < 1 ? undefined : [...left, ...Array<number>(missing).fill(0), ...right]
}

/** The groups of a part of an address, which may end with a dotted IPv4 address if it `isLast`. */
function groupsOf(part: string, isLast: boolean): number[] | undefined {
  if (part === '') return []
  const groups: number[] = []
  const texts = part.split(':')
  for (const [at, text] of texts.entries()) {
    if (/^[\da-f]{1,4}$/i.test(text)) groups.push(Number.parseInt(text, 16))
    else if (isLast && at === texts.length - 1 && isIPv4(text)) groups.push(...groupsOfIPv4(text))
    else return undefined
  }
  return groups
}

function groupsOfIPv4(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** The address without its zone: `fe80::1%eth0` is `fe80::1`. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? ''
}

/** The address without brackets, as programs connect to it: `[::1]` is `::1`. */
export function withoutBrackets(address: string): string {
  return address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address
}

/** One text for all spellings of an address; any text that is no IPv6 address stands for itself. A zone is a part of it. */
export function identityOf(ip: string): string {
  // Nearly all addresses are IPv4.
  if (!ip.includes(':')) return ip
  const plain = withoutBrackets(ip)
  const groups = groupsOfIPv6(plain)
  if (groups === undefined) return ip
  return shortest(groups) + plain.slice(withoutZone(plain).length)
}

/** Whether two texts are one address. */
export function isSameIp(a: string, b: string): boolean {
  return a === b || (a.includes(':') && identityOf(a) === identityOf(b))
}

/** The form of RFC 5952: lower case, and the first longest row of zeros as `::`. */
function shortest(groups: readonly number[]): string {
  let [bestFrom, best] = [0, 1]
  for (let from = 0; from < GROUPS; from++) {
    let to = from
    while (to < GROUPS && groups[to] === 0) to++
    if (to - from > best) [bestFrom, best] = [from, to - from]
  }
  const texts = groups.map((group) => group.toString(16))
  if (best < 2) return texts.join(':')
  return `${texts.slice(0, bestFrom).join(':')}::${texts.slice(bestFrom + best).join(':')}`
}

/** An address with its port: IPv6 in brackets, so that a reader can tell the port. */
export function hostPort(ip: string, port: number): string {
  return ip.includes(':') && !ip.startsWith('[') ? `[${ip}]:${port}` : `${ip}:${port}`
}

/** Whether an address with its port has this part, or is this address in another spelling. */
export function hasAddress(
  { ip, port }: { readonly ip: string; readonly port: number },
  part: string,
): boolean {
  const has = (text: string): boolean => text.toLowerCase().includes(part.toLowerCase())
  if (has(hostPort(ip, port)) || has(`${ip}:${port}`)) return true
  const [, bracketed = part, portText] = /^(\[[^\]]+\]):?(\d*)$/.exec(part) ?? []
  return bracketed.includes(':') && isSameIp(ip, bracketed) && String(port).startsWith(portText ?? '')
}

/** Whether a text with a colon is an IPv6 address, as it must be. */
export function isColonOfIPv6(ip: string): boolean {
  return !ip.includes(':') || groupsOfIPv6(withoutBrackets(ip)) !== undefined
}

/** Whether a text is an IP address, or a name that can be a host's: so no number at the end, and no port. */
export function isHost(text: string): boolean {
  if (text.includes(':')) return isColonOfIPv6(text)
  if (isIPv4(text)) return !LEADING_ZERO.test(text)
  return HOST_NAME.test(text) && !ENDS_WITH_NUMBER.test(text)
}

/** Whether an address is one of the machine itself, in any spelling. */
export function isLoopback(address: string): boolean {
  const plain = withoutBrackets(address)
  return identityOf(plain) === '::1' || isLoopbackIPv4(mappedIPv4(plain) ?? plain)
}

function isLoopbackIPv4(address: string): boolean {
  return isIPv4(address) && address.startsWith('127.')
}

/** The IPv4 address of `::ffff:1.2.3.4`, which connects over IPv4; undefined for any other address. */
export function mappedIPv4(address: string): string | undefined {
  const groups = groupsOfIPv6(address)
  const isMapped = groups?.slice(0, 6).every((group, i) => group === (i === 5 ? 0xffff : 0)) === true
  return isMapped ? ipv4At(groups!, 6, 0) : undefined
}

/** The IPv4 address in two groups; each is compared with `mask` bit by bit. */
export function ipv4At(groups: readonly number[], at: number, mask: number): string {
  const [high, low] = [(groups[at] ?? 0) ^ mask, (groups[at + 1] ?? 0) ^ mask]
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}
