import type { Change } from './changes.ts'
import type { Command, Decision } from './decision.ts'
import { Draft } from './draft.ts'
import type { ChangeGroup, Now } from './ports.ts'
import type { View } from './view.ts'

/** A command that waits for its batch, and how its caller is answered. */
export interface Waiting {
  readonly command: Command<unknown>
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What a command of a batch was decided to be: a decision or the error that `decide` threw. */
export type Decided =
  | { readonly waiting: Waiting; readonly decision: Decision<unknown> }
  | { readonly waiting: Waiting; readonly error: unknown }

/** Commands decided in order, each seeing those before it, and the groups of changes that they came to. */
export interface Batch {
  readonly decided: readonly Decided[]
  /** The records that were behind and are written along. */
  readonly behind: readonly Change[]
  /** First the records that were behind, a group each; then the commands' changes, a group each. */
  readonly groups: readonly ChangeGroup[]
  /** Which command made which group, by the group's index; undefined for records that were behind. */
  readonly owners: readonly (Waiting | undefined)[]
}

/**
 * Decides those that wait, in order, each with a time of its own, against `view`, and puts their changes after those that are behind:
 * `takeBehind` is asked for these once it is known which changes they go along with.
 */
export function gatherBatch(
  view: View,
  {
    waiting,
    takeBehind,
  }: { waiting: readonly Waiting[]; takeBehind: (along: readonly Change[]) => Change[] },
  clock: () => Now,
): Batch {
  const draft = new Draft(view)
  const owned: ChangeGroup[] = []
  const owners: Waiting[] = []
  const decided = waiting.map((one): Decided => {
    const verdict = decideOne(one, draft, clock())
    if (!('decision' in verdict) || verdict.decision.changes.length === 0) return verdict
    for (const change of verdict.decision.changes) draft.add(change)
    owned.push(verdict.decision.changes)
    owners.push(one)
    return verdict
  })
  const behind = takeBehind(owned.flat())
  const groups = [...behind.map((change) => [change]), ...owned]
  return { decided, behind, groups, owners: [...behind.map(() => undefined), ...owners] }
}

function decideOne(waiting: Waiting, draft: Draft, now: Now): Decided {
  try {
    return { waiting, decision: waiting.command.decide(draft, now) }
  } catch (error) {
    return { waiting, error }
  }
}

/** Whether the command of this verdict changed something (others only read). */
export function hasChanges(verdict: Decided): boolean {
  return 'decision' in verdict && verdict.decision.changes.length > 0
}

/** Tells the caller what its command came to. */
export function settle(verdict: Decided): void {
  if ('decision' in verdict) verdict.waiting.resolve(verdict.decision.outcome)
  else verdict.waiting.reject(verdict.error)
}
