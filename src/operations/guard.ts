import type { ConfigKey } from '../core/config/config-item.ts'
import type { ServiceKey } from '../core/naming/service.ts'
import { Refusal } from '../core/refusal.ts'

/** What an operation does to what it touches. */
export type Action = 'read' | 'write'

/** What an operation does, and to which kind of resource: known without its input. */
export interface Permission {
  readonly action: Action
  readonly resource: 'config' | 'naming' | 'namespace' | 'operator' | 'backup' | 'public'
}

/**
 * One thing that a permission can allow or forbid. `some-configs`, `some-services` and `some-namespaces` mean at least
 * one in there, of every namespace where `namespaceId` is undefined: the operation then asks for each one that it finds.
 */
export type Resource =
  | { readonly kind: 'config'; readonly key: ConfigKey }
  | { readonly kind: 'service'; readonly key: ServiceKey }
  | { readonly kind: 'namespace'; readonly namespaceId: string }
  | { readonly kind: 'some-configs' | 'some-services'; readonly namespaceId: string | undefined }
  | { readonly kind: 'some-namespaces' | 'operator' | 'backup' }

/** An action on a resource. */
export interface Touch {
  readonly action: Action
  readonly resource: Resource
}

/** Who asks, whatever the protocol. */
export interface Caller {
  /** The address that history records and logs name. */
  readonly ip: string
}

/** Decides who may do what. */
export interface Authorisation {
  /** False while everybody may do everything: resources are not even computed then. */
  readonly isOn: boolean
  /** Whether the caller may do this. Throws a Refusal if the caller cannot be identified. */
  allows(caller: Caller, action: Action, resource: Resource): boolean
}

/** Everybody may do everything. */
const OPEN: Authorisation = { isOn: false, allows: () => true }

/** An operation as protocols call it: judged first, then carried out. */
export type Guarded<I, O, C extends Caller = Caller> = ((input: I, caller: C) => O) & {
  readonly permission: Permission
}

/** An operation whose input names all that it touches. */
export interface Operation<I, O, C extends Caller> {
  readonly permission: Permission
  /** All of them must be allowed. */
  readonly resources: (input: I) => readonly Resource[]
  readonly run: (input: I, caller: C) => O
}

/** An operation that learns what it touches from what it finds, e.g. by ids: all of it must be allowed. */
export interface FindingOperation<I, F, O, C extends Caller> {
  readonly permission: Permission
  /** Judged before anything is looked up. */
  readonly scope: (input: I) => Resource
  /** Looks up what the input means, and changes nothing. */
  readonly find: (input: I) => F
  readonly touches: (found: F) => readonly Touch[]
  /** Carries it out on what was found, and on nothing else. */
  readonly run: (found: F, input: I, caller: C) => O
}

/** An operation that shows many things: those that the caller may not touch are left out. */
export interface ListingOperation<I, E, O, C extends Caller> {
  readonly permission: Permission
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
 * called past the authorisation; and a definition without its resources does not compile.
 */
export class Guard {
  readonly #authorisation: Authorisation

  constructor(authorisation: Authorisation = OPEN) {
    this.#authorisation = authorisation
  }

  /** For what the input names. The operation throws Refusal `forbidden` before `run`. */
  operation<I, O, C extends Caller = Caller>(definition: Operation<I, O, C>): Guarded<I, O, C> {
    const authorisation = this.#authorisation
    const { permission, resources, run } = definition
    const guarded = (input: I, caller: C): O => {
      if (authorisation.isOn)
        for (const resource of resources(input)) this.#require(caller, permission.action, resource)
      return run(input, caller)
    }
    return Object.assign(guarded, { permission })
  }

  /** For what has to be found first. The operation throws Refusal `forbidden` before `run`. */
  finding<I, F, O, C extends Caller = Caller>(definition: FindingOperation<I, F, O, C>): Guarded<I, O, C> {
    const authorisation = this.#authorisation
    const { permission, scope, find, touches, run } = definition
    const guarded = (input: I, caller: C): O => {
      if (authorisation.isOn) this.#require(caller, permission.action, scope(input))
      const found = find(input)
      if (authorisation.isOn)
        for (const { action, resource } of touches(found)) this.#require(caller, action, resource)
      return run(found, input, caller)
    }
    return Object.assign(guarded, { permission })
  }

  /** For lists. The operation throws Refusal `forbidden` where its scope is forbidden. */
  listing<I, E, O, C extends Caller = Caller>(definition: ListingOperation<I, E, O, C>): Guarded<I, O, C> {
    const authorisation = this.#authorisation
    const { permission, scope, find, run } = definition
    const guarded = (input: I, caller: C): O => {
      if (!authorisation.isOn) return run(find(input), input, caller)
      this.#require(caller, permission.action, scope(input))
      return run(this.#allowed(definition, input, caller), input, caller)
    }
    return Object.assign(guarded, { permission })
  }

  #allowed<I, E, O, C extends Caller>(
    definition: ListingOperation<I, E, O, C>,
    input: I,
    caller: Caller,
  ): readonly E[] {
    const { permission, find, resource, refusesNothingLeft = false } = definition
    const { action } = permission
    const found = find(input)
    const allowed = found.filter((entry) =>
      this.#authorisation.allows(caller, action, resource(entry, input)),
    )
    if (refusesNothingLeft && allowed.length === 0 && found.length > 0) throw forbidden(action)
    return allowed
  }

  #require(caller: Caller, action: Action, resource: Resource): void {
    if (!this.#authorisation.allows(caller, action, resource)) throw forbidden(action)
  }
}

function forbidden(action: Action): Refusal {
  return new Refusal('forbidden', `The caller is not permitted to ${action} this.`)
}
