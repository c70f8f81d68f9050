import { UsageError } from '../../command-line.ts'
import { detectServer, type KnownServer } from './detect-server.ts'
import type { Dialect } from './dialect.ts'
import { JavaV1 } from './java-v1.ts'
import { JavaV3 } from './java-v3.ts'
import type { OldAccount } from './old-server.ts'
import { Pace } from './pace.ts'
import { RNacos } from './r-nacos.ts'
import { OldWaypost } from './waypost.ts'

/** The calls a second of `--rate`. Throws UsageError for other texts. */
export function rateOf(text: string): number {
  const perSecond = Number(text)
  if (perSecond >= 1 && perSecond <= 10_000) return perSecond
  throw new UsageError(`--rate must be from 1 to 10000 calls a second, but is ${JSON.stringify(text)}`)
}

/** The servers at these addresses, with their kinds. The rate holds for each. */
export async function openServers(
  addresses: readonly string[],
  perSecond: number,
  account: OldAccount | undefined,
): Promise<KnownServer[]> {
  const servers: KnownServer[] = []
  for (const address of addresses)
    servers.push(await detectServer(address, { pace: new Pace(perSecond), account }))
  return servers
}

/** The calls of a server of this kind. */
export function dialectOf({ kind, server }: KnownServer): Dialect {
  if (kind === 'java-3') return new JavaV3(server)
  if (kind === 'waypost') return new OldWaypost(server)
  return kind === 'r-nacos' ? new RNacos(server) : new JavaV1(server)
}
