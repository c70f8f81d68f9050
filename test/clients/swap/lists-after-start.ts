import { setTimeout as sleep } from 'node:timers/promises'
import { portsAt } from './plain-requests.ts'

/** The ports that the list of each service must have at least. */
export type ListedPorts = ReadonlyMap<string, readonly number[]>

/** The findings about the lists of the new server. */
export interface ListsAfterStart {
  /** Lists that lacked an instance which the last reading had: service, time after the start, ports that were missing. */
  readonly gaps: readonly string[]
  /** How long after the start all instances were listed that had registered after the last reading (ms). */
  readonly allListedMs: number
}

const LOOK_EVERY_MS = 500
const AT_ONCE = 20

/** Looks at lists from the start of the new server on. `read`: what the last reading had; `later`: what was registered after it. */
export async function watchLists(
  url: string,
  { read, later }: { readonly read: ListedPorts; readonly later: ListedPorts },
  { answersMs, untilMs }: { readonly answersMs: number; readonly untilMs: number },
): Promise<ListsAfterStart> {
  const gaps: string[] = []
  let allListedMs = later.size === 0 ? 0 : Infinity
  while (Date.now() < untilMs) {
    for (const lack of await lacking(url, read)) gaps.push(`${Date.now() - answersMs} ms: ${lack}`)
    if (allListedMs === Infinity && (await lacking(url, later)).length === 0)
      allListedMs = Date.now() - answersMs
    await sleep(LOOK_EVERY_MS)
  }
  return { gaps, allListedMs }
}

/** A line for each list that lacks a port. */
async function lacking(url: string, lists: ListedPorts): Promise<string[]> {
  const lines: string[] = []
  const waiting = [...lists]
  const look = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [service, wanted] = next
      const ports = await portsAt(url, service)
      const missing = wanted.filter((port) => !ports.includes(port))
      if (missing.length > 0) lines.push(`${service} without ${missing.join()}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, look))
  return lines
}
