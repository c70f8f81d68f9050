import { setTimeout as sleep } from 'node:timers/promises'
import { portsAt } from './plain-requests.ts'

/** What the lists of the new server were. */
export interface ListsAfterStart {
  /** Lists that lacked an instance which the last reading had: service, time after the start, ports. */
  readonly gaps: readonly string[]
  /** How long after the start all instances were listed that had registered after the last reading (ms). */
  readonly allListedMs: number
}

const LOOK_EVERY_MS = 500
const AT_ONCE = 20

/**
 * Looks at lists from the start of the new server on, for some time (ms). Each must have an instance with the port 1.
 * `read`: services that the last reading had; `later`: those whose instance has registered after it.
 */
export async function watchLists(
  url: string,
  { read, later }: { readonly read: readonly string[]; readonly later: readonly string[] },
  { answersMs, forMs }: { readonly answersMs: number; readonly forMs: number },
): Promise<ListsAfterStart> {
  const gaps: string[] = []
  let missing = later
  let allListedMs = 0
  while (Date.now() - answersMs < forMs) {
    for (const service of await lacking(url, read)) gaps.push(`${service}, ${Date.now() - answersMs} ms`)
    if (missing.length > 0) {
      missing = await lacking(url, missing)
      allListedMs = missing.length > 0 ? Infinity : Date.now() - answersMs
    }
    await sleep(LOOK_EVERY_MS)
  }
  return { gaps, allListedMs }
}

/** The services whose list has no instance with the port 1. */
async function lacking(url: string, services: readonly string[]): Promise<string[]> {
  const without: string[] = []
  for (let begin = 0; begin < services.length; begin += AT_ONCE)
    await Promise.all(
      services.slice(begin, begin + AT_ONCE).map(async (service) => {
        if (!(await portsAt(url, service)).includes(1)) without.push(service)
      }),
    )
  return without
}
