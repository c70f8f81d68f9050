/**
 * The part of an address by which failures and places are counted: an IPv4 address, or the /64 of an IPv6 address.
 * Networks give a whole /64 to one household. Other texts stay as they are.
 */
export function clientNetwork(ip: string): string {
  if (!ip.includes(':')) return ip
  const [head = '', tail] = ip.toLowerCase().split('::')
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** The groups of a part of an IPv6 address, without leading zeros; an IPv4 address at its end is two groups. */
function groupsOf(part: string): string[] {
  if (part === '') return []
  return part
    .split(':')
    .flatMap((group) => (group.includes('.') ? ['v4', 'v4'] : [group.replace(/^0+(?=.)/, '')]))
}
