import type { AsAdministrator } from '../../support/administrator.ts'
import type { DrivenClient } from './driven-client.ts'

/** Something that must work with every library. */
export interface Step {
  readonly title: string
  /** Rejects where it does not work. */
  readonly run: (ground: Ground) => Promise<void>
}

/** The input of a step. */
export interface Ground {
  /** Makes names unique. */
  readonly run: string
  /** The client of that name in a namespace: made when it is first asked for. */
  readonly client: (name?: string, namespace?: string) => Promise<DrivenClient>
  /** Asks the server itself, over HTTP. */
  readonly ask: AsAdministrator
}

/** How a step ended. */
export interface StepResult {
  readonly ok: boolean
  readonly detail: string
}

/** So many steps at once: most of their time is spent waiting, but a library that is just starting is slow. */
const AT_ONCE = 5

/** Takes steps side by side. Never rejects. */
export async function takeSteps(
  steps: readonly Step[],
  ground: Ground,
): Promise<ReadonlyMap<string, StepResult>> {
  const results = new Map<string, StepResult>()
  const waiting = [...steps]
  const take = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const { title, run } = step
      results.set(title, await resultOf(() => run(ground)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
  return results
}

/** How the work ended; what it throws is the detail. */
export async function resultOf(work: () => Promise<void>): Promise<StepResult> {
  try {
    await work()
    return { ok: true, detail: '' }
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
