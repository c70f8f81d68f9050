import type { ApplicationCalls } from './application-calls.ts'
import { contentAt, portsAt } from './plain-requests.ts'

/** The outcomes of the publishes and registrations of all applications, by their items and services. */
export interface Outcomes {
  /** Publishes that were acknowledged, and are not there at the end. */
  readonly lost: readonly string[]
  /** Registrations that were acknowledged, and are not listed at the end. */
  readonly unlisted: readonly string[]
  /** Publishes and registrations that failed for the application, and have come through nevertheless. */
  readonly late: readonly string[]
}

/** Looks at the end of a swap. */
export async function outcomesOf(url: string, applications: readonly ApplicationCalls[]): Promise<Outcomes> {
  const [lost, unlisted, late]: [string[], string[], string[]] = [[], [], []]
  for (const one of applications) {
    for (const { number, error } of one.of('publish')) {
      const item = one.publishedItem(number)
      const isThere = (await contentAt(url, item)) === String(number)
      if (error === undefined && !isThere) lost.push(item)
      if (error !== undefined && isThere) late.push(item)
    }
    for (const { number, error } of one.of('register')) {
      const service = one.registeredService(number)
      const isThere = (await portsAt(url, service)).includes(1)
      if (error === undefined && !isThere) unlisted.push(service)
      if (error !== undefined && isThere) late.push(service)
    }
  }
  return { lost, unlisted, late }
}
