import type { Kind, Operation } from '../load/recording.ts'

/** A span of time in which something was broken. */
export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

const KINDS: readonly Kind[] = [
  'publish',
  'compare-and-set',
  'delete',
  'read',
  'register',
  'deregister',
  'beat',
  'list',
]
const SUCCESSES = new Set(['ok', 'changed'])

/** The longest time in ms without a success of each kind of operation that began in a window, at some servers. */
export function longestGaps(
  operations: readonly Operation[],
  { fromMs, toMs }: Window,
  isAsked: (server: number) => boolean,
): Map<Kind, number> {
  const gaps = new Map<Kind, number>()
  for (const kind of KINDS) {
    const ends = operations
      .filter(
        (each) =>
          each.kind === kind &&
          isAsked(each.server) &&
          SUCCESSES.has(each.outcome) &&
          each.endedMs >= fromMs &&
          each.endedMs <= toMs,
      )
      .map(({ endedMs }) => endedMs)
      .sort((a, b) => a - b)
    const marks = [fromMs, ...ends, toMs]
    gaps.set(kind, Math.max(...marks.slice(1).map((mark, at) => mark - marks[at]!)))
  }
  return gaps
}

/** The gaps as a text: `publish 0.4 s`. */
export function shownGaps(gaps: ReadonlyMap<Kind, number>): string {
  return [...gaps].map(([kind, ms]) => `${kind} ${(ms / 1_000).toFixed(1)}`).join(', ')
}
