import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf } from '../../../move/plan.ts'
import type { KnownServer } from '../old/detect-server.ts'
import type { OldService } from '../old/dialect.ts'
import { dialectOf } from '../old/open-servers.ts'
import type { Difference } from './differences.ts'
import type { BothServers } from './replay/replayed.ts'

/** Which instances are looked at once more, and after which time. */
export interface Settling {
  readonly services: ReadonlyMap<string, OldService>
  readonly waitMs: number
}

/** The differences, without differences of health that are gone after a pause: each server probes at its own times. */
export async function settledHealth(
  differences: readonly Difference[],
  servers: BothServers,
  { services, waitMs }: Settling,
): Promise<Difference[]> {
  const doubtful = differences.filter(({ field }) => field === 'healthy')
  if (doubtful.length === 0) return [...differences]
  await sleep(waitMs)
  const asked = [...services].filter(([name]) => doubtful.some((one) => one.name.startsWith(`${name} `)))
  const health = [await healthOf(servers.old, asked), await healthOf(servers.new, asked)] as const
  return differences.flatMap((one): Difference[] => {
    if (one.field !== 'healthy') return [one]
    const [old, other] = health.map((all) => all.get(one.name))
    if (old === other || old === undefined || other === undefined) return []
    return [{ ...one, old, new: other }]
  })
}

async function healthOf(
  server: KnownServer,
  services: readonly (readonly [string, OldService])[],
): Promise<ReadonlyMap<string, string>> {
  const dialect = dialectOf(server)
  const health = new Map<string, string>()
  for (const [, named] of services) {
    const service = await dialect.service(named)
    const instances = service === undefined ? [] : await dialect.instances(service)
    for (const one of instances) health.set(nameOf(one), `${one.healthy}`)
  }
  return health
}
