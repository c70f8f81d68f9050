import type { Action, Resource } from '../core/access/resource.ts'
import { type AuditTrail, NO_AUDIT } from '../core/audit/audit-event.ts'
import type { Refusal } from '../core/refusal.ts'
import type { FairQueue } from '../core/work/fair-queue.ts'
import { readTurns } from '../core/work/read-turns.ts'
import {
  askerOf,
  type Authorisation,
  type Caller,
  forbidden,
  OPEN,
  type Permission,
  type Touch,
} from './authorisation.ts'
import { type AuditRule, OperationAudit } from './operation-audit.ts'

export type { Action, Resource } from '../core/access/resource.ts'

/** An operation as protocols call it: judged first, then carried out. */
export type Guarded<I, O, C extends Caller = Caller> = ((input: I, caller: C) => O) & {
  readonly permission: Permission
}

/** An operation that writes declares its audit rule. Without the rule it does not compile. */
export type Audited<I, O> =
  | { readonly permission: Permission<'read'>; readonly audit?: AuditRule<I, O> }
  | { readonly permission: Permission<'write'>; readonly audit: AuditRule<I, O> }

/** An operation whose input names all that it touches. */
export interface Operation<I, O, C extends Caller> {
  /** The caller needs rights for every resource. */
  readonly resources: (input: I) => readonly Resource[]
  /**
   * It waits for others while it has much in memory: a record of 10 MiB, or a page of notes. Only a few of these run at once, from
   * their first read to their outcome, which is a promise. Callers take turns.
   */
  readonly inPlace?: true
  readonly run: (input: I, caller: C) => O
}

/** How many operations have a place at once, unless the heap has room for fewer. One has up to 10 MiB. */
const MOST_PLACES = 8

/** Places for the operations that have one: this number, and as many for callers of which nothing else runs. */
export function placesOf(most: number): FairQueue {
  const atOnce = Math.max(1, Math.min(most, MOST_PLACES))
  return readTurns(atOnce, atOnce)
}

/**
 * An operation that must find things, e.g. by ids, to know which resources it touches. The caller needs rights for all
 * of these, except the ones that `leaveOut` removes.
 */
export interface FindingOperation<I, F, O, C extends Caller> {
  /** Judged before anything is looked up. */
  readonly scope: (input: I) => Resource
  /** Finds the things of the input, and changes nothing. */
  readonly find: (input: I) => F
  /** Leaves out the things that the caller may not touch: an id must not reveal that something exists. */
  readonly leaveOut?: (found: F, mayTouch: (touch: Touch) => boolean) => F
  readonly touches: (found: F) => readonly Touch[]
  /** Carries it out on the found things alone. */
  readonly run: (found: F, input: I, caller: C) => O
}

/** An operation that shows many things, without the ones that the caller may not touch. */
export interface ListingOperation<I, E, O, C extends Caller> {
  readonly permission: Permission<'read'>
  /** Judged before anything is looked up. */
  readonly scope: (input: I) => Resource
  readonly find: (input: I) => readonly E[]
  readonly resource: (entry: E, input: I) => Resource
  /** True where the caller is refused if all that was found is forbidden. */
  readonly refusesNothingLeft?: boolean
  readonly run: (allowed: readonly E[], input: I, caller: C) => O
}

/**
 * Makes operations of their definitions. There is no other way to carry out a definition, so that none can be
 * called past the authorisation and the audit. A definition without its resources does not compile.
 */
export class Guard {
  readonly #authorisation: Authorisation
  readonly #trail: AuditTrail
  readonly #places: FairQueue
  readonly #operations = new Set<string>()

  constructor(
    authorisation: Authorisation = OPEN,
    trail: AuditTrail = NO_AUDIT,
    places = placesOf(MOST_PLACES),
  ) {
    this.#authorisation = authorisation
    this.#trail = trail
    this.#places = places
  }

  /** For resources that the input names. The operation throws Refusal `forbidden` before `run`. */
  operation<I, O, C extends Caller = Caller>(
    definition: Operation<I, O, C> & Audited<I, O>,
  ): Guarded<I, O, C> {
    const { permission, resources } = definition
    const run = definition.inPlace === true ? this.#inPlace(definition.run) : definition.run
    const audit = this.#auditOf(definition)
    const gate = this.#gateOf(permission, audit)
    const guarded = (input: I, caller: C): O => {
      if (gate.isOn)
        for (const resource of resources(input)) gate.require(caller, { action: permission.action, resource })
      if (!audit.records(input)) return run(input, caller)
      return audit.follow({ input, caller, resources: resources(input) }, () => run(input, caller))
    }
    return Object.assign(guarded, { permission: named(definition) })
  }

  /** For resources that must be found first. The operation throws Refusal `forbidden` before `run`. */
  finding<I, F, O, C extends Caller = Caller>(
    definition: FindingOperation<I, F, O, C> & Audited<I, O>,
  ): Guarded<I, O, C> {
    const { permission, scope, find, leaveOut, touches, run } = definition
    const audit = this.#auditOf(definition)
    const gate = this.#gateOf(permission, audit)
    const guarded = (input: I, caller: C): O => {
      if (gate.isOn) gate.require(caller, { action: permission.action, resource: scope(input) })
      const all = find(input)
      const mayTouch = ({ action, resource }: Touch): boolean => gate.allows(caller, action, resource)
      const found = gate.isOn && leaveOut !== undefined ? leaveOut(all, mayTouch) : all
      // The caller has named ids: the refusal must not tell whose they are.
      if (gate.isOn) for (const touch of touches(found)) gate.require(caller, touch, false)
      if (!audit.records(input)) return run(found, input, caller)
      const resources = writtenBy(touches(found), scope(input))
      return audit.follow({ input, caller, resources }, () => run(found, input, caller))
    }
    return Object.assign(guarded, { permission: named(definition) })
  }

  /** For lists. The operation throws Refusal `forbidden` where its scope is forbidden. */
  listing<I, E, O, C extends Caller = Caller>(definition: ListingOperation<I, E, O, C>): Guarded<I, O, C> {
    const { permission, scope, find, resource, refusesNothingLeft = false, run } = definition
    const { action } = permission
    const gate = this.#gateOf(permission, this.#auditOf(definition))
    const guarded = (input: I, caller: C): O => {
      if (!gate.isOn) return run(find(input), input, caller)
      gate.require(caller, { action, resource: scope(input) })
      const found = find(input)
      const allowed = found.filter((entry) => gate.allows(caller, action, resource(entry, input)))
      if (refusesNothingLeft && allowed.length === 0 && found.length > 0)
        throw gate.refusal(caller, scope(input), forbidden(caller, action, scope(input)))
      return run(allowed, input, caller)
    }
    return Object.assign(guarded, { permission })
  }

  /** Whether the caller sees a part of an answer. Without the right, the answer lacks that part. */
  shows(caller: Caller, action: Action, resource: Resource): boolean {
    return !this.#authorisation.isOn || this.#judges(caller, action, resource)
  }

  /**
   * Judges a caller again before a later message: its permissions may have changed, or its token have expired.
   * Undefined while everybody may do everything. It keeps the identity of the caller, and not the request. A caller
   * without the right is not refused, so nothing is recorded.
   */
  later({ ip, identity }: Caller, action: Action): ((resource: Resource) => boolean) | undefined {
    if (!this.#authorisation.isOn) return undefined
    const caller: Caller = { ip, identity }
    return (resource) => this.#judges(caller, action, resource)
  }

  #judges(caller: Caller, action: Action, resource: Resource): boolean {
    const authorisation = this.#authorisation
    return authorisation.shows?.(caller, action, resource) ?? authorisation.allows(caller, action, resource)
  }

  /**
   * As `later`, for messages to a connection as long as it lasts. Its client does not repeat its credentials, so an
   * expired token still counts. A removed user, another password, a leaked key and another permission count at once.
   */
  whileConnected({ ip, identity }: Caller, action: Action): ((resource: Resource) => boolean) | undefined {
    const lasting = identity.kind === 'user' ? { ...identity, lasts: true } : identity
    return this.later({ ip, identity: lasting }, action)
  }

  /** The names that the audit gives to the operations that were made. */
  get operations(): ReadonlySet<string> {
    return this.#operations
  }

  /** As `run`, which returns a promise, in a place. */
  #inPlace<I, O, C extends Caller>(run: (input: I, caller: C) => O): (input: I, caller: C) => O {
    return (input, caller) =>
      this.#places.run(askerOf(caller), async () => run(input, caller)) as unknown as O
  }

  #auditOf<I, O>({ permission, audit }: { permission: Permission; audit?: AuditRule<I, O> }) {
    const made = new OperationAudit(this.#trail, permission, audit)
    this.#operations.add(made.name)
    return made
  }

  #gateOf(permission: Permission, audit: Refusals): Gate {
    return new Gate(permission, this.#authorisation, audit)
  }
}

/** The permission of an operation, with its name. */
function named({ permission, audit }: { permission: Permission; audit?: { readonly operation: string } }) {
  return audit === undefined ? permission : { ...permission, operation: audit.operation }
}

/** Records refusals. */
type Refusals = Pick<OperationAudit<never, never>, 'refused'>

/** Judges the callers of one operation. */
class Gate {
  /** Users are managed by administrators alone, also while everybody may do everything else (`OPEN`). */
  readonly #isAlwaysOn: boolean
  readonly #authorisation: Authorisation
  readonly #audit: Refusals

  constructor({ resource }: Permission, authorisation: Authorisation, audit: Refusals) {
    this.#isAlwaysOn = resource === 'access'
    this.#authorisation = authorisation
    this.#audit = audit
  }

  get isOn(): boolean {
    return this.#authorisation.isOn || this.#isAlwaysOn
  }

  allows(caller: Caller, action: Action, resource: Resource): boolean {
    return this.#authorisation.allows(caller, action, resource)
  }

  /** `isNamed`: the caller has named the resource. */
  require(caller: Caller, touch: Touch, isNamed = true): void {
    const { action, resource } = touch
    const authorisation = this.#authorisation
    if (authorisation.allows(caller, action, resource)) return
    const named = isNamed ? resource : undefined
    const refusal = authorisation.refused?.(caller, action, named) ?? forbidden(caller, action, named)
    throw this.refusal(caller, resource, refusal)
  }

  /** The refusal, which is recorded. */
  refusal(caller: Caller, resource: Resource, refusal: Refusal): Refusal {
    this.#audit.refused(caller, resource, refusal)
    return refusal
  }
}

/** The changed resources of the found things; the scope if nothing was found. */
function writtenBy(touches: readonly Touch[], scope: Resource): readonly Resource[] {
  const written = touches.filter(({ action }) => action === 'write').map(({ resource }) => resource)
  return written.length > 0 ? written : [scope]
}
