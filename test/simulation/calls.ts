import type { Change } from '../../src/core/decisions/changes.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import type { Revision, Unit } from '../../src/core/engine/ports.ts'
import { Refusal } from '../../src/core/refusal.ts'
import type { DecidedCommand, DecidedUnit } from '../../src/core/engine/units.ts'
import { objectOf } from './known-values.ts'
import type { Operation } from './operations.ts'
import { type Answer, type Reference, type Rule, type Step, textOf } from './reference.ts'
import { ownChange } from './rules.ts'
import { violation } from './violation.ts'

/** The request of a client to a server. */
export interface Call {
  readonly title: string
  readonly object: string
  readonly rule: Rule
  /** How many values its object had had when it was asked. */
  readonly askedAt: number
  /** The answer for the changes that the store has accepted; undefined: nothing. */
  accepted: Answer | undefined
  /** Whether the store has written changes for it. */
  wrote: boolean
  /** Open: its client waits. Unknown: its client was told that nothing is certain, or nothing at all. Failed: it was not made. */
  state: 'open' | 'answered' | 'unknown' | 'failed'
}

/**
 * Checks that what clients were answered is linearizable, as the store goes along. The order in which the store accepts units is
 * one order of all operations, so nothing needs to be searched for:
 *
 * - A decision that changes something takes its place in this order when the store accepts it. Carried out on the
 *   reference there, it must change something too, and have the answer that its client gets.
 * - A decision that changes nothing must have its answer on a value that the object had between the question and the
 *   acceptance: its place is there.
 * - A client that got no answer, or that it is not known, does not restrict anything: its operation has its place if the
 *   store has accepted it, at any later time, and has none otherwise. It is carried out once at most. One that was told
 *   that it was not made has no place.
 *
 * Each place is between the question and the answer, and the operations in this order give the answers that the clients got.
 * That is what linearizable means. It is stricter: histories that are linearizable in another order only are refused.
 */
export class Calls {
  readonly #reference: Reference
  readonly #changed: (change: Change) => void
  readonly #calls = new Map<Command<unknown>, Call>()

  /** `changedByServer`: called with what servers change that no client has asked for. */
  constructor(reference: Reference, changedByServer: (change: Change) => void = () => {}) {
    this.#reference = reference
    this.#changed = changedByServer
  }

  /** The operations whose clients still wait. */
  get open(): readonly Call[] {
    return [...this.#calls.values()].filter(({ state }) => state === 'open')
  }

  /** A client asks; the call is known by the command that the server makes of it. */
  ask({ title, object }: Operation, { command, rule }: { command: Command<unknown>; rule: Rule }): Call {
    const askedAt = this.#reference.count(object)
    const call: Call = { title, object, rule, askedAt, accepted: undefined, wrote: false, state: 'open' }
    this.#calls.set(command, call)
    return call
  }

  /** The store has accepted a unit of a server. */
  held(unit: Unit, revision: Revision): void {
    // A unit of the store itself has no commands: a lease has ended.
    const { commands = [] } = unit as Partial<DecidedUnit>
    for (const command of commands) {
      const changes = 'decision' in command ? command.decision.changes : []
      const call = this.#calls.get(command.waiting.command)
      if (call === undefined) for (const change of changes) this.#changedByServer(change, revision)
      else if (changes.length > 0) this.#wrote(call, { command, changes, revision })
      else this.#confirmed(call, answerOf(command))
    }
  }

  /** A client gets an outcome. */
  answered(call: Call, outcome: unknown): void {
    if (call.state !== 'open') return
    const answer = textOfOutcome(outcome)
    call.state = stateAfter(outcome)
    if (call.state === 'unknown') return
    if (call.state === 'failed') {
      if (call.wrote) violation(`${call.title}: the client was told that it was not made, but it was`)
    } else if (call.accepted === undefined) this.#confirmed(call, answer)
    else if (call.accepted !== answer)
      violation(
        `${call.title}: the store has accepted "${call.accepted}", the client was answered "${answer}"`,
      )
  }

  /** The server of a client has died: the client will never know. */
  lost(call: Call): void {
    if (call.state === 'open') call.state = 'unknown'
  }

  #wrote(
    call: Call,
    {
      command,
      changes,
      revision,
    }: { command: DecidedCommand; changes: readonly Change[]; revision: Revision },
  ): void {
    if (call.wrote) violation(`${call.title}: written twice`)
    if (call.state === 'failed') violation(`${call.title}: written after its client was told that it was not`)
    const { object } = call
    const value = this.#reference.value(object)
    const { next, answer } = call.rule(value, changes)
    const claimed = answerOf(command)
    // A registration may end what was remembered, and change nothing else.
    const isSeen = changes.some((change) => objectOf(change) === object)
    if ((next === value) === isSeen || answer !== claimed)
      violation(`${call.title}: written, "${claimed}", but "${answer}" would be right on ${textOf(value)}`)
    call.accepted = claimed
    call.wrote = true
    this.#reference.set(object, next, revision)
  }

  /** An answer that changes nothing must have been right at some time since it was asked for. */
  #confirmed(call: Call, answer: Answer): void {
    const values = this.#reference.since(call.object, call.askedAt)
    if (!values.some((value) => isRight(call.rule(value, []), value, answer)))
      violation(`${call.title}: "${answer}" was never right on ${values.map(textOf).join(' or ')}`)
    call.accepted = answer
  }

  #changedByServer(change: Change, revision: Revision): void {
    const object = objectOf(change)
    if (object === undefined) return
    const value = this.#reference.value(object)
    const { next, answer } = (ownChange(change) as Rule)(value, [])
    if (next === value) violation(`${change.kind}: ${answer}, on ${textOf(value)}`)
    this.#changed(change)
    this.#reference.set(object, next, revision)
  }
}

/** The state of a call after its outcome: answered, unknown whether the change was made, or not made. */
function stateAfter(outcome: unknown): Call['state'] {
  if (!(outcome instanceof Error)) return 'answered'
  if (!(outcome instanceof Refusal)) return 'failed'
  if (outcome.code !== 'store-unavailable') return 'answered'
  return outcome.message.includes('was not made') ? 'failed' : 'unknown'
}

function isRight({ next, answer }: Step<unknown>, value: unknown, claimed: Answer): boolean {
  return next === value && answer === claimed
}

function answerOf(command: DecidedCommand): Answer {
  return textOfOutcome('decision' in command ? command.decision.outcome : command.error)
}

function textOfOutcome(outcome: unknown): Answer {
  if (outcome instanceof Refusal) return outcome.code
  return outcome instanceof Error ? outcome.message : String(outcome)
}
