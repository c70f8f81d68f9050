/** An address with its port: IPv6 in brackets, so that a reader can tell the port. */
export function hostPort({ ip, port }: { readonly ip: string; readonly port: number }): string {
  return ip.includes(':') && !ip.startsWith('[') ? `[${ip}]:${port}` : `${ip}:${port}`
}
