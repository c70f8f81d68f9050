import type { Change } from '../decisions/changes.ts'
import { timeOf, type Command, type Decision } from '../decisions/decision.ts'
import { Draft } from '../decisions/draft.ts'
import type { Unit, ChangeGroup } from './ports.ts'
import type { Now } from '../decisions/stamps.ts'
import { changedThing, type Read, ReadLog, readText } from '../decisions/reads.ts'
import type { View } from '../decisions/view.ts'
import type { Follower } from './follower.ts'

/** Commands of one subject, decided one after the other, and their unit for the store. */
export interface DecidedUnit extends Unit {
  readonly commands: readonly DecidedCommand[]
  /** Changes that this server alone makes, and that are never written. */
  readonly local: readonly Change[]
}

/** Units that can be committed together, and the commands that must wait for the next commit. */
export interface Gathered {
  readonly units: readonly DecidedUnit[]
  readonly later: readonly WaitingCommand[]
}

/** How units are gathered. */
export interface Gathering {
  readonly clock: () => Now
  /** The most changes of a unit. A decision with more changes is a unit by itself. */
  readonly mostChanges: number
}

/**
 * Decides the waiting commands against `view`, those of one subject in their order, and each subject by itself. A command
 * that would change what another unit changes or has read has to wait: units of one commit are independent of each other.
 */
export function gatherUnits(view: View, waiting: readonly WaitingCommand[], gathering: Gathering): Gathered {
  const drafts = new Map<string, UnitDraft>()
  for (const one of waiting) {
    const { subject } = one.command
    const unit = drafts.get(subject) ?? new UnitDraft(view, gathering)
    drafts.set(subject, unit)
    unit.take(one)
  }
  const taken = new TakenUnits()
  const units = [...drafts.values()].filter((unit) => taken.take(unit)).map((unit) => unit.decided())
  const decided = new Set(units.flatMap(({ commands }) => commands.map((command) => command.waiting)))
  // In the order in which they were given, whether their own unit has to wait or they did not fit into it.
  return { units, later: waiting.filter((one) => !decided.has(one)) }
}

/** The units of one commit. The store compares their reads with the state before the commit. */
class TakenUnits {
  readonly #read = new Set<string>()
  readonly #changed = new Set<string>()
  /** The changed things, and the ranges that contain them. */
  readonly #touched = new Set<string>()

  /** False: a unit would change what another one changes or has read, and must wait for the next commit. */
  take(unit: UnitDraft): boolean {
    const reads = unit.readTexts()
    const things = unit.changedThings()
    const changed = things.map(readText)
    const touched = [...changed, ...things.flatMap(rangeTexts)]
    if (changed.some((text) => this.#changed.has(text))) return false
    if (reads.some((text) => this.#touched.has(text)) || touched.some((text) => this.#read.has(text)))
      return false
    for (const text of reads) this.#read.add(text)
    for (const text of changed) this.#changed.add(text)
    for (const text of touched) this.#touched.add(text)
    return true
  }
}

function rangeTexts(thing: Read): string[] {
  if (thing.of === 'record') return [readText({ of: 'records', recordKind: thing.recordKind })]
  if (thing.of !== 'instance') return []
  return [readText({ of: 'instances', serviceKey: thing.serviceKey, none: false })]
}

/** A unit that is being gathered. */
class UnitDraft {
  readonly #gathering: Gathering
  readonly #log = new ReadLog()
  readonly #draft: Draft
  readonly #commands: DecidedCommand[] = []
  readonly #changes: Change[] = []
  readonly #local: Change[] = []
  /** The instances that a change of this unit counts as a beat of. */
  readonly #beating = new Set<string>()
  #isClosed = false

  constructor(view: View, gathering: Gathering) {
    this.#gathering = gathering
    this.#draft = new Draft(view, this.#log)
  }

  /** Decides a command as the next one of the unit, unless it must wait for another unit. */
  take(waiting: WaitingCommand): void {
    const { isAlone = false } = waiting
    if (this.#isClosed || (isAlone && this.#commands.length > 0)) {
      // Those behind it wait too: commands of a subject are decided in their order.
      this.#isClosed = true
      return
    }
    const command = this.#decide(waiting)
    const changes = 'decision' in command ? command.decision.changes : []
    const isFull = this.#changes.length + changes.length > this.#gathering.mostChanges
    if (isFull && this.#changes.length > 0) {
      this.#isClosed = true
      return
    }
    this.#commands.push(command)
    this.#isClosed = isAlone
    const isLocal = 'decision' in command && command.decision.durability === 'local'
    for (const change of changes) {
      this.#draft.add(change)
      ;(isLocal ? this.#local : this.#changes).push(...this.#whole(change))
    }
  }

  changedThings(): Read[] {
    return this.#changes.map(changedThing)
  }

  readTexts(): string[] {
    return this.#log.texts
  }

  decided(): DecidedUnit {
    return { reads: this.#log.reads, changes: this.#changes, local: this.#local, commands: this.#commands }
  }

  /**
   * A shared store keeps an instance as one value, so each change has the whole instance. The store keeps only the last
   * change of a unit: it must be a beat if any change of the unit is one.
   */
  #whole(change: Change): Change[] {
    if (change.kind !== 'instance-saved' && change.kind !== 'instance-health-changed') return [change]
    const { serviceKey, stamp } = change
    const address = change.kind === 'instance-saved' ? change.record.address : change.address
    const known = this.#draft.instance(serviceKey, address)
    if (known === undefined) return []
    const { record, healthy } = known
    const text = readText(changedThing(change))
    if (change.kind === 'instance-saved' && change.beat) this.#beating.add(text)
    const beat = this.#beating.has(text)
    const saved = {
      kind: 'instance-saved',
      serviceKey,
      serviceSerial: 0,
      record,
      healthy,
      beat,
      stamp,
    } as const
    return [change.kind === 'instance-saved' && change.isSilence ? { ...saved, isSilence: true } : saved]
  }

  #decide(waiting: WaitingCommand): DecidedCommand {
    const { command } = waiting
    try {
      return {
        waiting,
        decision: command.decide(this.#draft, timeOf(command, this.#draft, this.#gathering.clock)),
      }
    } catch (error) {
      return { waiting, error }
    }
  }
}

/** A command that waits for its batch, with the callbacks that answer its caller. */
export interface WaitingCommand {
  readonly command: Command<unknown>
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
  /** When it was given, by the loop's clock. Undefined: nobody waits for it, or its engine has no limit of time. */
  readonly sinceMs?: number | undefined
  /** How much longer than others it may take, ms. */
  moreMs?: number
  /** It was refused although its commit is underway: it is not decided again. */
  isGivenUp?: boolean
  /** Its unit could not be written: it gets a unit of its own. */
  isAlone?: boolean
  /** It has no changes, and was decided again because its subject is doubtful. One more failure is its answer. */
  isAskedTwice?: boolean
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

/** The most bytes of contents in one batch, unless one content is larger: a store writes some contents as texts, all at once. */
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
