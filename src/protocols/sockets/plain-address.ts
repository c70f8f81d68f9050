/** An address as people know it: IPv4 where IPv6 only wraps it, without a zone. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return ''
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice(7)
  const zone = address.indexOf('%')
  return zone < 0 ? address : address.slice(0, zone)
}
