import { type ApplicationCalls, type Call, type Kind, KINDS, lengthOf } from './application-calls.ts'
import type { SwappedLibrary } from './libraries.ts'
import type { MeasuredSwap } from './measured-swap.ts'

/** The results of the calls of a kind in the stop. */
export interface Figures {
  /** Calls that began before the new server answered, and ended after the stop began. */
  readonly made: number
  /** Calls that failed after the stop began. */
  readonly failed: number
  /** Calls that succeeded before the new server was seen to answer: nearly all out of what the library keeps. */
  readonly kept: number
  /** Publishes or registrations that failed, and came through later nevertheless. */
  readonly cameLater: number
  /** The longest that a call took which failed (ms). */
  readonly longestFailedMs: number
  /** The longest that a call took which began in the stop and succeeded (ms). */
  readonly longestDoneMs: number
  /** How long after the start the first call succeeded (ms). */
  readonly succeedsMs: number
  /** How long after the start the first call showed what only the new server has (ms). */
  readonly isNewMs: number
}

/** The figures of one library and one kind of call. */
export function figuresOf(swap: MeasuredSwap, one: SwappedLibrary, kind: Kind): Figures {
  const { stopMs, answersMs } = swap
  const application = swap.applications.get(one)!
  const calls = application.of(kind)
  const inStop = calls.filter(({ beganMs, endedMs }) => endedMs >= stopMs && beganMs < answersMs)
  const failed = failedIn(swap, one, kind)
  const done = inStop.filter(({ error }) => error === undefined)
  const first = calls.find(({ endedMs, error }) => endedMs >= answersMs && error === undefined)
  const firstNew = calls.find(({ isNew }) => isNew)
  return {
    made: inStop.length,
    failed: failed.length,
    kept: done.filter(({ endedMs }) => endedMs < answersMs).length,
    cameLater: failed.filter((call) => swap.late.includes(nameOf(application, call) ?? '')).length,
    longestFailedMs: longest(failed),
    longestDoneMs: longest(done),
    succeedsMs: (first?.endedMs ?? Infinity) - answersMs,
    isNewMs: (firstNew?.endedMs ?? Infinity) - answersMs,
  }
}

/** The calls of a kind that failed, in order. */
export function failedIn({ applications }: MeasuredSwap, one: SwappedLibrary, kind: Kind): readonly Call[] {
  return applications
    .get(one)!
    .of(kind)
    .filter(({ error }) => error !== undefined)
}

/** All figures, a line for each library and kind, and how the swap ended. */
export function shown(swap: MeasuredSwap): string {
  const lines = [...swap.applications.keys()].flatMap((one) =>
    KINDS.map((kind) => {
      const errors = new Set(failedIn(swap, one, kind).map(({ error }) => error!.slice(0, 120)))
      return `${one.name} ${kind}: ${JSON.stringify(figuresOf(swap, one, kind))} ${[...errors].slice(0, 2).join('; ')}`
    }),
  )
  const { lost, unlisted, gaps, allListedMs, stopMs, answersMs } = swap
  const published = [...swap.applications.values()].flatMap((one) => one.of('publish'))
  const acknowledged = published.filter(({ error }) => error === undefined).length
  const end = {
    stoppedMs: answersMs - stopMs,
    published: published.length,
    acknowledged,
    failed: published.length - acknowledged,
    lost: lost.length,
    unlisted: unlisted.length,
    gaps: gaps.length,
    allListedMs,
  }
  return ['calls in a swap:', ...lines, JSON.stringify(end)].join('\n')
}

/** What a call made: an item or a service. */
function nameOf(application: ApplicationCalls, { kind, number }: Call): string | undefined {
  if (kind === 'publish') return application.publishedItem(number)
  return kind === 'register' ? application.registeredService(number) : undefined
}

function longest(calls: readonly Call[]): number {
  return Math.max(0, ...calls.map(lengthOf))
}
