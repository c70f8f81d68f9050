import type { Change } from '../decisions/changes.ts'
import { type Command, type Decision, timeOf } from '../decisions/decision.ts'
import { Draft } from '../decisions/draft.ts'
import type { Follower } from './follower.ts'
import type { ChangeGroup } from './ports.ts'
import type { Now } from '../decisions/stamps.ts'

/** A command that waits for its batch, with the callbacks that answer its caller. */
export interface WaitingCommand {
  readonly command: Command<unknown>
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A command with its decision, or with the error that `decide` threw. */
export type DecidedCommand =
  | { readonly waiting: WaitingCommand; readonly decision: Decision<unknown> }
  | { readonly waiting: WaitingCommand; readonly error: unknown }

/** Commands decided in order, each seeing the changes of the earlier ones, and the groups to commit. */
export interface Batch {
  readonly decided: readonly DecidedCommand[]
  /** Records that were behind and are written in the same commit. */
  readonly behind: readonly Change[]
  /** First the records that were behind, one group each. Then the changes of the commands, one group each. */
  readonly groups: readonly ChangeGroup[]
  /** The command of each group, by the index of the group. Undefined for records that were behind. */
  readonly owners: readonly (WaitingCommand | undefined)[]
}

/**
 * Decides the waiting commands in order, each with a time of its own, against the state. The groups of records that are
 * behind come first: `takeBehind` returns them, given the changes of the commands.
 */
export function gatherBatch(
  { state, serials }: Pick<Follower, 'state' | 'serials'>,
  {
    waiting,
    takeBehind,
  }: { waiting: readonly WaitingCommand[]; takeBehind: (along: readonly Change[]) => Change[] },
  clock: () => Now,
): Batch {
  const draft = new Draft(state)
  const owned: ChangeGroup[] = []
  const owners: WaitingCommand[] = []
  const decided = waiting.map((one): DecidedCommand => {
    const command = decideOne(one, draft, clock)
    if (!('decision' in command) || command.decision.changes.length === 0) return command
    for (const change of command.decision.changes) draft.add(change)
    owned.push(command.decision.changes)
    owners.push(one)
    return command
  })
  const numbered = serials.ofDecisions(owned, state)
  const behind = takeBehind(numbered.flat())
  const groups = [...behind.map((change) => [change]), ...numbered]
  return { decided, behind, groups, owners: [...behind.map(() => undefined), ...owners] }
}

function decideOne(waiting: WaitingCommand, draft: Draft, clock: () => Now): DecidedCommand {
  const { command } = waiting
  try {
    return { waiting, decision: command.decide(draft, timeOf(command, draft, clock)) }
  } catch (error) {
    return { waiting, error }
  }
}

/** The most bytes of contents in one batch, unless one content is larger: a store writes some of them as texts, all at once. */
const MOST_CONTENT_BYTES = 8 * 1024 * 1024

/** How many of the waiting commands one batch takes, at most `most`. */
export function batchSize(waiting: readonly WaitingCommand[], most: number): number {
  let bytes = 0
  for (const [index, { command }] of waiting.entries()) {
    bytes += command.growsBy ?? 0
    if (index === most || (index > 0 && bytes > MOST_CONTENT_BYTES)) return index
  }
  return waiting.length
}

/** Whether the command changes something. */
export function hasChanges(command: DecidedCommand): boolean {
  return 'decision' in command && command.decision.changes.length > 0
}

/** Answers the caller of the command. */
export function settle(command: DecidedCommand): void {
  if ('decision' in command) command.waiting.resolve(command.decision.outcome)
  else command.waiting.reject(command.error)
}
