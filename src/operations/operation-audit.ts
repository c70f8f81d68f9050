import { nothing, unawaited } from '../core/unexpected.ts'
import type { Resource } from '../core/access/resource.ts'
import {
  type AuditEntry,
  type AuditResult,
  type AuditTally,
  type AuditTrail,
  NO_USER,
  type RecordingOptions,
} from '../core/audit/audit-event.ts'
import {
  auditedItem,
  itemOfNames,
  type NamesOfOutcome,
  NO_NAMES,
  type SomeNames,
} from '../core/audit/audited-item.ts'
import { Refusal } from '../core/refusal.ts'
import type { Permission, Caller } from './authorisation.ts'

/** How the audit records an operation. */
export interface AuditRule<I, O> {
  /** Its name, e.g. `publish config`. */
  readonly operation: string
  /** Asked before the operation runs: false for a call that is not recorded. Without it, every call is recorded. */
  readonly isRecorded?: (input: I) => boolean
  /** Whether the calls that are not recorded are counted. */
  readonly countsOthers?: boolean
  /** Which item, where the resources do not say it: a name, never a content, a value or a secret. */
  readonly item?: (input: I) => string
  /** Which items, each by its whole name, where the resources do not say it; undefined: the resources do. */
  readonly items?: (input: I) => SomeNames | undefined
  /**
   * The user that the caller claims to be, for an operation that signs it in. Without it, the caller's own identity.
   */
  readonly as?: (input: I) => Who
  /** The audited meaning of an outcome, if it is not always `done`. */
  readonly cameTo?: (outcome: Awaited<O>, input: I) => AuditedOutcome
}

/** The user that an event names. */
export type Who = Pick<AuditEntry, 'username' | 'by'>

/** The outcome of an operation, as the audit records it. */
export interface AuditedOutcome {
  readonly result: AuditResult
  readonly code?: string | undefined
  /** Numbers, such as how many items were published. */
  readonly detail?: string | undefined
  /** Which items were changed and which were not, where the outcome says it; else all resources are meant. */
  readonly names?: NamesOfOutcome | undefined
}

/** For an operation whose calls are not recorded, because they change nothing, or because other metrics count them. */
export const NEVER_RECORDED = (): boolean => false

/** A call of an operation that is recorded. */
export interface AuditedCall<I> {
  readonly input: I
  readonly caller: Caller
  readonly resources: readonly Resource[]
}

const DONE: AuditedOutcome = { result: 'done' }
const HAS_CHANGED: RecordingOptions = { mayRepeat: false, hasChanged: true }

/** Records the calls of one operation in the audit. */
export class OperationAudit<I, O> {
  readonly #trail: AuditTrail
  readonly #permission: Permission
  readonly #name: string
  readonly #rule: AuditRule<I, O> | undefined
  readonly #tally: AuditTally | undefined
  readonly #options: RecordingOptions

  /** An operation without a rule only reads: nothing but its refusals is recorded. */
  constructor(trail: AuditTrail, permission: Permission, rule: AuditRule<I, O> | undefined) {
    this.#trail = trail
    this.#permission = permission
    this.#name = rule?.operation ?? `${permission.action} ${permission.resource}`
    this.#rule = rule
    // Nobody needs a permission for it.
    const mayRepeat = permission.resource === 'public' || permission.resource === 'own-account'
    this.#options = { mayRepeat }
    this.#tally = rule?.countsOthers === true ? trail.tallyOf(rule.operation) : undefined
  }

  /** The name of the operation, in events. */
  get name(): string {
    return this.#name
  }

  /** Whether this call is recorded. Otherwise it is counted, if its operation wants that. */
  records(input: I): boolean {
    const rule = this.#rule
    if (rule === undefined) return false
    if (rule.isRecorded === undefined || rule.isRecorded(input)) return true
    if (this.#tally !== undefined) this.#tally.count++
    return false
  }

  /** Runs the operation, and records its outcome once it has settled. Its caller waits for nothing more. */
  follow(call: AuditedCall<I>, run: () => O): O {
    const { cameTo = () => DONE } = this.#rule ?? {}
    const record = (came: AuditedOutcome): void => this.#record(call, came)
    let outcome: O
    try {
      outcome = run()
    } catch (error) {
      record(failureOf(error))
      throw error
    }
    if (outcome instanceof Promise)
      unawaited(
        'request',
        nothing,
        outcome.then(
          (settled: Awaited<O>) => record(cameTo(settled, call.input)),
          (error: unknown) => record(failureOf(error)),
        ),
      )
    else record(cameTo(outcome as Awaited<O>, call.input))
    return outcome
  }

  /** Records that a call was refused before it ran. */
  refused(caller: Caller, resource: Resource, refusal: Refusal): void {
    if (isMereQuestion(this.#permission, refusal.code)) return
    const who = whoWasRefused(caller)
    this.#enter(caller, who, { item: auditedItem([resource]), result: 'refused', code: refusal.code })
  }

  #record({ input, caller, resources }: AuditedCall<I>, came: AuditedOutcome): void {
    const { as, item, items } = this.#rule ?? {}
    const { result, code, detail, names } = came
    const asked = names === undefined ? items?.(input) : undefined
    const meant = asked === undefined ? names : { changed: asked, left: NO_NAMES }
    const named = meant === undefined ? auditedItem(resources, item?.(input)) : itemOfNames(meant)
    this.#enter(caller, as?.(input) ?? whoIs(caller), { item: named, result, code, detail, names })
  }

  /** Field by field: each spread into a larger object costs 2 µs of every publish (decision 0027). */
  #enter(
    { ip }: Caller,
    who: Who,
    { item, result, code = '', detail = '', names }: AuditedOutcome & Pick<AuditEntry, 'item'>,
  ): void {
    const { username, by } = who
    const known = auditedCode(who, code)
    this.#trail.record(
      { username, by, ip, operation: this.#name, item, result, code: known, detail },
      names !== undefined && names.changed.count > 0 ? HAS_CHANGED : this.#options,
    )
  }
}

/** The code of an event: a user who is there had a wrong password. The caller gets one answer for both. */
export function auditedCode({ username }: Who, code: string): string {
  return code === 'unknown-user' && username !== NO_USER ? 'wrong-password' : code
}

/** Whether somebody has only asked whether they are signed in, as each page for the sign-in does. */
export function isMereQuestion({ action, resource }: Permission, code: string): boolean {
  return action === 'read' && resource === 'own-account' && code === 'not-signed-in'
}

function failureOf(error: unknown): AuditedOutcome {
  return error instanceof Refusal ? { result: 'refused', code: error.code } : { result: 'failed' }
}

/** The user that an event names for this caller. */
function whoIs({ identity }: Caller): Who {
  if (identity.kind !== 'user') return { username: NO_USER, by: 'none' }
  return { username: identity.username, by: identity.by }
}

/** The user that the event of a refusal names: also a user whose password was wrong. */
export function whoWasRefused(caller: Caller): Who {
  const { identity } = caller
  if (identity.kind !== 'not-signed-in' || identity.username === undefined) return whoIs(caller)
  return { username: identity.username, by: 'password' }
}
